import shlex, keyword, ipaddress, colorsys, mimetypes, errno, platform, sched, time, codecs, html.entities, contextvars, inspect, numbers
print(shlex.split("a 'b c' d"), shlex.quote("a b"), keyword.iskeyword("for"), ipaddress.ip_address("10.0.0.1") in ipaddress.ip_network("10.0.0.0/8"), colorsys.rgb_to_hsv(1, 0, 0), mimetypes.guess_type("x.html"), errno.ENOENT, errno.errorcode[2], platform.python_implementation(), codecs.encode("abc", "rot13"), codecs.BOM_UTF8, html.entities.name2codepoint["lt"])
s = sched.scheduler(time.monotonic, time.sleep); s.enter(0, 1, print, ("sched",)); s.run()
v = contextvars.ContextVar("v", default=1); t = v.set(2); print(v.get()); v.reset(t); print(v.get(), contextvars.copy_context().run(lambda: v.get()))
async def co(): pass
c = co(); print(inspect.iscoroutinefunction(co), inspect.iscoroutine(c), inspect.isfunction(len), inspect.isclass(int), inspect.cleandoc("  a\n    b"), inspect.isawaitable(c)); c.close()
