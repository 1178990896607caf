def main(): print("main ran", __name__, __doc__, __file__)
if __name__ == "__main__": main()
