counter = 0
def outer():
    n = 0
    def inner():
        nonlocal n
        global counter
        n += 1; counter += 10
        return n
    inner(); inner()
    return n
print(outer(), counter)
