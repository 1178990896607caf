import asyncio
import io
import logging
import unittest
import warnings


def setUpModule():
    print("module set up")


def tearDownModule():
    print("module torn down")


class Stack:
    def __init__(self):
        self._items = []

    def push(self, item):
        self._items.append(item)

    def pop(self):
        if not self._items:
            raise IndexError("pop from an empty stack")
        return self._items.pop()


class StackTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.shared = [1]

    def setUp(self):
        self.stack = Stack()
        self._private = 3
        self.addCleanup(print, "cleaned", self._testMethodName if False else "up")

    def tearDown(self):
        del self.stack

    def test_push_and_pop(self):
        self.stack.push(1)
        self.assertEqual(self.stack.pop(), 1)
        self.assertEqual(self.shared, [1])

    def test_empty(self):
        with self.assertRaises(IndexError) as caught:
            self.stack.pop()
        self.assertIn("empty", str(caught.exception))
        with self.assertRaisesRegex(IndexError, "^pop"):
            self.stack.pop()
        self.assertRaises(ZeroDivisionError, lambda: 1 / 0)

    def test_of_each_kind(self):
        self.assertTrue(1)
        self.assertFalse(0)
        self.assertIs(None, None)
        self.assertIsNone(None)
        self.assertIsInstance(1, int)
        self.assertAlmostEqual(0.1 + 0.2, 0.3)
        self.assertGreater(2, 1)
        self.assertDictEqual({1: 2}, {1: 2})
        self.assertListEqual([1], [1])
        self.assertSetEqual({1}, {1})
        self.assertTupleEqual((1,), (1,))
        self.assertCountEqual([1, 2], [2, 1])
        self.assertMultiLineEqual("a\nb", "a\nb")
        self.assertRegex("abc", "b")
        with self.assertLogs("here", "INFO") as logs:
            logging.getLogger("here").info("told")
        self.assertEqual(logs.output, ["INFO:here:told"])
        with self.assertWarns(UserWarning):
            warnings.warn("careful")

    def test_in_parts(self):
        for n in range(3):
            with self.subTest(n=n):
                self.assertNotEqual(n, 1)

    def test_failing(self):
        self.assertEqual([1, 2, 3], [1, 2, 4], "not the same")

    def test_error(self):
        raise RuntimeError("broken")

    @unittest.skip("not now")
    def test_skipped(self):
        self.fail()

    @unittest.skipIf(True, "if")
    def test_skipped_if(self):
        self.fail()

    @unittest.expectedFailure
    def test_known(self):
        self.assertEqual(1, 2)

    def test_skips_itself(self):
        self.skipTest("itself")


class AsyncTest(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.value = await asyncio.sleep(0, 5)

    async def test_async(self):
        self.assertEqual(self.value, 5)
        await asyncio.sleep(0)


class Recorder(unittest.TestResult):
    def addFailure(self, test, err):
        super().addFailure(test, err)
        print("failure", test.id(), err[0].__name__)


out = io.StringIO()
runner = unittest.TextTestRunner(stream=out, verbosity=2)
suite = unittest.TestLoader().loadTestsFromTestCase(StackTest)
result = runner.run(suite)
print(result.testsRun, len(result.failures), len(result.errors), len(result.skipped), len(result.expectedFailures))
print(sorted(line for line in out.getvalue().splitlines() if " ... " in line))
print([line for line in result.failures[0][1].splitlines() if "not the same" in line])
print(unittest.defaultTestLoader.getTestCaseNames(AsyncTest))
more = unittest.TestSuite([StackTest("test_failing"), unittest.FunctionTestCase(lambda: print("function"))])
recorder = Recorder()
more.run(recorder)
print(recorder.wasSuccessful(), recorder.testsRun)
program = unittest.main(argv=["x", "AsyncTest", "StackTest.test_empty"], exit=False, testRunner=runner)
print(program.result.wasSuccessful(), program.result.testsRun)
print(unittest.main(exit=False, argv=["x", "-k", "push"], testRunner=runner).result.testsRun)
try:
    unittest.main(argv=["x", "AsyncTest"], testRunner=runner)
except SystemExit as end:
    print("exit", end.code)
