import ast
t = ast.parse("x = 1 + f(y)\nclass A: pass"); print(ast.dump(t.body[0]), ast.literal_eval("[1, {'a': (2, None)}]"), ast.unparse(t), [type(n).__name__ for n in ast.walk(t)][:4], t.body[0].targets[0].id)
class V(ast.NodeVisitor):
    def __init__(self): self.names = []
    def visit_Name(self, n): self.names.append(n.id); self.generic_visit(n)
v = V(); v.visit(t); print(v.names)
class T(ast.NodeTransformer):
    def visit_Constant(self, n): return ast.copy_location(ast.Constant(n.value + 1), n)
print(ast.unparse(ast.fix_missing_locations(T().visit(ast.parse("a = 1")))), ast.get_docstring(ast.parse("'doc'")), t._fields, list(ast.iter_child_nodes(t))[0].lineno)
try: ast.literal_eval("f()")
except ValueError as e: print("ValueError")
try: ast.parse("a b")
except SyntaxError as e: print(e.lineno, e.msg)
