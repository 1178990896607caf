def g(): yield 1; raise KeyError("g")
for x in g(): print(x)
