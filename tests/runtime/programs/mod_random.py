import random
random.seed(42); print(random.random(), random.randint(1, 6), random.choice("abc"), random.sample(range(10), 3), random.shuffle([1]), random.uniform(0, 1), random.choices("ab", weights=[1, 3], k=5), random.gauss(0, 1), random.getrandbits(8))
r = random.Random(7); x = [1, 2, 3, 4]; r.shuffle(x); print(x, r.randrange(100))
s = random.getstate(); a = random.random(); random.setstate(s); print(a == random.random())
class Mine(random.Random):
    def random(self): return 0.5
print(Mine().uniform(0, 2))
