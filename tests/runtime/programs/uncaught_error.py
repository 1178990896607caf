def a(): return b()
def b(): return {}["missing"]
print("before")
a()
