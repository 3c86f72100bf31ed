"""PhotoBench (arXiv 2603.01493): its layout, ranked metrics, abstention, submission rows."""
