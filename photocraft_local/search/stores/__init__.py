"""Vector stores: ways to find the best rows of the memory-mapped fp16 store. All of them give the
same rows in the same order with the same scores (exact.py says what those are); they differ in
speed and in where the numbers lie. choice.py picks one and says why."""
