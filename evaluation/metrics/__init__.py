"""Scores: pure functions of gold and predicted columns. They import nothing but types.

Plain signatures: `gold` is a list of names, `predicted` a list of the same length. Names are the seven
labels (contradicting, fabricated, ambiguous, no_fact, out_dependent, implicitly_supported,
explicitly_supported) or the outcomes `faithful` and `hallucinated`; a prediction may also be None,
`undecided` or the name of a failure. Laws: an undecided prediction is the wrong class, counted, never
dropped; a rate whose denominator is empty is None, never 0 and never NaN; beside every rate stands its
coverage (decided over all). Bad names and columns of unequal length raise BadInput.

outcomes (LongNovel, HaluEval, NoCha)
    outcome_counts(gold, predicted)                        two-by-two counts; statistics has their rates
    mcc_from_accuracies(h_acc, f_acc, n_h, n_f)            MCC from published class accuracies
    hallucinated_by(slices, gold, predicted)               for recall by kind, position, scale or pattern
    hallucinated_by_position(positions, kinds, gold, ...)  over the paper's four kinds
    pair_accuracy(pairs, right)                            NoCha
    flip_rate(runs)                                        run to run
    override_rate(panels, arbiter)                         arbiter against the panel's plurality
verigray
    verigray_scores(gold, predicted, keep_no_fact=False)   counts of two merged classes, ranking loss
    ranking_loss(gold_degrees, predicted_degrees)          equation 1 over any ordered values
    label_counts / confusion / risk_coverage               seven classes; their table; selection
probe
    claim_match_scores(gold, predicted)                    PROBE steps 1 and 4
    evidence_scores / vote_accuracy                        PROBE steps 2 and 3
spans
    character_scores / mistake_scores                      spans: characters, places
statistics
    recall, specificity, precision, f1, mcc, accuracy, mean_accuracy, coverage   of counts
    fleiss_kappa(panels)                                   between judges
    bootstrap_interval(statistic, items, groups=None)      seeded percentile interval
"""
