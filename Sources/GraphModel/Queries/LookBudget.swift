/// Limits how much is looked at for one commit, and shares that among the accounts of ways, subjects and queries.
///
/// One *look* is an object that a path passes, or a value at its end; a question to the store counts as many looks. Every look
/// is charged to the total and to one account. Once the total is spent, accounts that have used more than their share end, and
/// the others continue up to theirs: one expensive query does not cost the cheap ones their answers. The accounts that end do
/// not depend on the order of the charges, which comes from hashing: an account is charged for kept answers as if it had
/// worked them out itself.
final class LookBudget {
  /// A consumer of looks.
  enum Account: Hashable {
    /// A way back to the objects where paths start.
    case way(RelatedQueries.Trigger)
    /// Values that all queries that are filed under a subject share.
    case subject(QuerySubject)
    /// A query that is judged.
    case query(UInt64)
  }

  /// A question to the store takes about as long as so many looks at what is kept.
  static let questionCost = 50

  private let total: Int
  private let share: Int
  private(set) var looks = 0
  private(set) var questions = 0
  private var used = [Account: Int]()
  private var isAttributed = false
  /// The looks of the account that is being charged.
  private(set) var own = 0

  /// - Parameters:
  ///   - total: looks that all accounts share.
  ///   - share: looks that each account has, independent of the others.
  init(total: Int, share: Int) { (self.total, self.share) = (total, share) }

  private var spent: Int { looks + questions * Self.questionCost }

  /// The account whose turn it is has used more than its share, and nothing is left of the total: paths end where they are.
  var isExhausted: Bool { isAttributed && spent > total && own > share }

  func charge(_ looks: Int) {
    self.looks += looks
    own += looks
  }

  /// A question to the store. The account is not charged: the next one has the answer for nothing.
  func chargeQuestion() { questions += 1 }

  /// Objects that a way has led to are read from the store and judged, those that no other way leads to for the first time.
  func chargeRoots(_ count: Int, new: Int) {
    questions += new
    own += Self.questionCost * count
  }

  /// Something that is kept is used again.
  /// - Parameter cost: what it cost the account that worked it out.
  func chargeAgain(_ looks: Int, cost: Int) {
    self.looks += looks
    own += cost
  }

  /// Charges what `body` looks at to an account; nil for one that may look at nothing more.
  func charging<Result>(_ account: Account, _ body: () -> Result) -> Result? {
    let before = used[account] ?? 0
    guard spent <= total || before <= share else { return nil }
    (own, isAttributed) = (before, true)
    defer {
      // Reading the object alone takes time, too.
      if own == before { charge(1) }
      used[account] = own
      (own, isAttributed) = (0, false)
    }
    return body()
  }

  /// The accounts that have ended; what they found is not all there is.
  var ended: Set<Account> { spent > total ? Set(used.lazy.filter { $0.value > self.share }.map(\.key)) : [] }
}
