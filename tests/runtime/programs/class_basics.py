class Animal:
    count = 0
    def __init__(self, name): self.name = name; Animal.count += 1
    def speak(self): return "..."
    def __repr__(self): return f"{type(self).__name__}({self.name!r})"
class Dog(Animal):
    def __init__(self, name, tricks=()):
        super().__init__(name)
        self._tricks = list(tricks)
    def speak(self): return super().speak() + "Woof"
    @property
    def tricks(self): return tuple(self._tricks)
    @tricks.setter
    def tricks(self, value): self._tricks = list(value)
    @tricks.deleter
    def tricks(self): self._tricks.clear()
    @classmethod
    def make(cls): return cls("made")
    @staticmethod
    def legs(): return 4
d = Dog("Rex", ["sit"])
print(d, d.speak(), d.tricks, Dog.make(), Dog.legs(), Animal.count)
d.tricks = ["roll"]; print(d.tricks); del d.tricks; print(d.tricks)
print(isinstance(d, Animal), issubclass(Dog, Animal), d.__class__.__name__, Dog.__name__, Dog.__qualname__, Dog.__doc__, Dog.__module__)
Animal.__init__(d, "Max"); print(d.name)
