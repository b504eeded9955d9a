/// Limits the work for one commit and divides it among triggers, index keys and queries.
///
/// A *look* is an object on a path or a value at its end; a query to the store counts as many looks. Each look is
/// charged to the total and to one account. When the total is spent, accounts above their share are stopped, while
/// the others may use up theirs: an expensive query does not deprive cheap ones of their results. Which accounts are
/// stopped does not depend on the order of the charges, which comes from hashing: a cached answer is charged to an
/// account at its original cost.
final class EvaluationBudget {
  /// An account that looks are charged to.
  enum CostAccount: Hashable {
    /// A path back from a changed object to the roots of paths.
    case trigger(PathQueryMatcher.Trigger)
    /// The evaluation of an index key, which all queries under it share.
    case expression(IndexedExpression)
    /// The evaluation of a query.
    case query(UInt64)
  }

  /// The cost of a query to the store, in looks at cached objects.
  static let storeQueryCost = 50

  private let total: Int
  private let share: Int
  private(set) var looks = 0
  private(set) var storeQueries = 0
  private var looksByAccount = [CostAccount: Int]()
  private var isAttributed = false
  /// The looks charged to the current account.
  private(set) var accountLooks = 0

  /// - Parameters:
  ///   - total: the looks that all accounts share.
  ///   - share: the looks that each account has independently of the others.
  init(total: Int, share: Int) { (self.total, self.share) = (total, share) }

  private var spent: Int { looks + storeQueries * Self.storeQueryCost }

  /// Whether the total is spent and the current account is above its share; paths then end early.
  var isExhausted: Bool { isAttributed && spent > total && accountLooks > share }

  func charge(_ looks: Int) {
    assert(looks >= 0, "a charge is not negative")
    self.looks += looks
    accountLooks += looks
  }

  /// Charges a query to the store to the total only, because the next account gets its answer for free.
  func chargeStoreQuery() { storeQueries += 1 }

  /// Charges reading and evaluating the roots that a path leads to. Only those that no other path reached count as
  /// queries.
  func chargeRoots(_ count: Int, new: Int) {
    assert(new >= 0 && new <= count, "new roots are among the roots")
    storeQueries += new
    accountLooks += Self.storeQueryCost * count
  }

  /// Charges the use of a cached result.
  /// - Parameter cost: the cost to the account that computed it.
  func chargeCached(_ looks: Int, cost: Int) {
    assert(looks >= 0 && cost >= 0, "a charge is not negative")
    self.looks += looks
    accountLooks += cost
  }

  /// Charges the looks of `body` to an account; nil if the account is stopped.
  func charge<Result>(to account: CostAccount, _ body: () -> Result) -> Result? {
    assert(!isAttributed, "accounts do not nest")
    let before = looksByAccount[account, default: 0]
    guard spent <= total || before <= share else { return nil }
    (accountLooks, isAttributed) = (before, true)
    defer {
      // Reading the object takes time even without a path.
      if accountLooks == before { charge(1) }
      looksByAccount[account] = accountLooks
      (accountLooks, isAttributed) = (0, false)
    }
    return body()
  }

  /// The stopped accounts, whose results are incomplete.
  var stoppedAccounts: Set<CostAccount> {
    spent > total ? Set(looksByAccount.lazy.filter { $0.value > self.share }.map(\.key)) : []
  }
}
