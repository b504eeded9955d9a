/// Limits the work for one commit and divides it among triggers, index keys and queries.
///
/// A *step* reads an object on a path or the value at its end; a query to the store counts as `storeQueryCost` steps.
/// Each step is charged to the total and to one account. When the total is spent, accounts above their share are
/// stopped, while the others may use up theirs: an expensive query does not deprive cheap ones of their results. Which
/// accounts are stopped does not depend on the order of the charges, which comes from hashing: a cached answer is
/// charged to an account at its original cost.
final class EvaluationBudget {
  /// An account that steps are charged to.
  enum CostAccount: Hashable {
    /// A path back from a changed object to the roots of paths.
    case trigger(PathTrigger)
    /// The evaluation of an index key, which all queries under it share.
    case expression(IndexedExpression)
    /// The evaluation of a query.
    case query(UInt64)
  }

  /// The cost of a query to the store, in steps.
  static let storeQueryCost = 50

  private let total: Int
  private let share: Int
  private(set) var steps = 0
  private(set) var storeQueries = 0
  private var stepsByAccount = [CostAccount: Int]()
  private var isAttributed = false
  /// The steps charged to the current account.
  private(set) var accountSteps = 0

  /// - Parameters:
  ///   - total: the steps that all accounts share.
  ///   - share: the steps that each account has independently of the others.
  init(total: Int, share: Int) { (self.total, self.share) = (total, share) }

  private var spent: Int { steps + storeQueries * Self.storeQueryCost }

  /// Whether the total is spent and the current account is above its share; paths then end early.
  var isExhausted: Bool { isAttributed && spent > total && accountSteps > share }

  func charge(_ steps: Int) {
    assert(steps >= 0, "a charge is not negative")
    self.steps += steps
    accountSteps += steps
  }

  /// Charges a query to the store to the total only, because the next account gets its answer for free.
  func chargeStoreQuery() { storeQueries += 1 }

  /// Charges reading and evaluating the roots that a path leads to. Only those that no other path reached count as
  /// queries.
  func chargeRoots(_ count: Int, new: Int) {
    assert(new >= 0 && new <= count, "new roots are among the roots")
    storeQueries += new
    accountSteps += Self.storeQueryCost * count
  }

  /// Charges the use of a cached result.
  /// - Parameter cost: the cost to the account that computed it.
  func chargeCached(_ steps: Int, cost: Int) {
    assert(steps >= 0 && cost >= 0, "a charge is not negative")
    self.steps += steps
    accountSteps += cost
  }

  /// Charges the steps of `body` to an account; nil if the account is stopped.
  func charge<Result>(to account: CostAccount, _ body: () -> Result) -> Result? {
    assert(!isAttributed, "accounts do not nest")
    let before = stepsByAccount[account, default: 0]
    guard spent <= total || before <= share else { return nil }
    (accountSteps, isAttributed) = (before, true)
    defer {
      // Reading the object takes time even without a path.
      if accountSteps == before { charge(1) }
      stepsByAccount[account] = accountSteps
      (accountSteps, isAttributed) = (0, false)
    }
    return body()
  }

  /// The stopped accounts, whose results are incomplete.
  var stoppedAccounts: Set<CostAccount> {
    spent > total ? Set(stepsByAccount.lazy.filter { $0.value > self.share }.map(\.key)) : []
  }
}
