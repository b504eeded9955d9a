/// The end of the result of a fetch.
public struct FetchCompletion: Hashable, Sendable {
  /// The state at which the complete result was read.
  public var at: Token
  /// The number of objects or rows.
  public var count: Int
  /// The start of the next page; nil if nothing follows the limit, and without a limit.
  public var next: FetchCursor?
  /// The explanation, if it was requested.
  public var explanation: FetchExplanation?
  /// The objects that the result omits because they are damaged, if the request omits them.
  public var damage: DamageNotice

  /// Creates the end of a result.
  public init(
    at: Token, count: Int, next: FetchCursor? = nil, explanation: FetchExplanation? = nil,
    damage: DamageNotice = DamageNotice()
  ) {
    self.damage = damage
    self.at = at
    self.count = count
    self.next = next
    self.explanation = explanation
  }
}

/// An explanation of how a store executes a fetch, for the diagnosis of slow fetches. It contains neither the
/// objects' contents nor the predicate's constants.
public struct FetchExplanation: Hashable, Sendable {
  /// The statements, in the order of their execution. `?1` is the first of `arguments`.
  public var statements: [String]
  /// The types of the statements' arguments.
  public var arguments: [String]
  /// The store's query plan, step by step; substeps are indented.
  public var plan: [String]
  /// The names of the used indexes.
  public var indexes: [String]
  /// Whether objects are also filtered in memory, because SQL can't express the complete predicate.
  public var checksInMemory: Bool
  /// The execution time.
  public var microseconds: Int64
  /// The number of objects or rows in the result.
  public var count: Int
  /// The attributes for which an index is advisable, as `Entity.attribute`.
  public var advice: [String]

  /// Creates an explanation.
  public init(
    statements: [String] = [], arguments: [String] = [], plan: [String] = [], indexes: [String] = [],
    checksInMemory: Bool = false, microseconds: Int64 = 0, count: Int = 0, advice: [String] = []
  ) {
    self.statements = statements
    self.arguments = arguments
    self.plan = plan
    self.indexes = indexes
    self.checksInMemory = checksInMemory
    self.microseconds = microseconds
    self.count = count
    self.advice = advice
  }
}
