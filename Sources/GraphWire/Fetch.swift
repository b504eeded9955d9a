import GraphModel

/// A fetch request in its wire form. Its parts are in their text forms, which every language can write.
public struct Fetch: Hashable, Sendable {
  /// The kind of result.
  public enum Result: UInt8, Hashable, Sendable, CaseIterable {
    /// Complete objects.
    case objects
    /// Objects without their values.
    case identifiers
    /// Only their number, in the last chunk.
    case count
    /// Rows of the values that `properties` names.
    case rows
  }

  /// Objects of this entity and of all that inherit from it.
  public var entity: EntityNumber
  /// The predicate in its text form; empty for all objects.
  public var predicate: String
  /// The sort order: names separated by commas, with a leading `-` to descend. Empty for the order of ids. For groups
  /// and distinct rows, names of columns.
  public var sort: String
  /// 0 for no limit.
  public var limit: UInt64
  /// The number of objects to skip.
  public var offset: UInt64
  /// The kind of result.
  public var result: Result
  /// The columns of rows, separated by commas. Examples: `name, salary * 12 AS yearly`, for groups `@count,
  /// @sum.salary`.
  public var properties: String
  /// Whether equal rows are returned once.
  public var distinct: Bool
  /// The columns that rows are grouped by, separated by commas.
  public var groupBy: String
  /// The cursor at the end of the previous page; empty for the first page.
  public var after: [UInt8]
  /// Whether to return how the fetch is executed, instead of its result.
  public var explain: Bool
  /// The revision of the graph to read; nil for the present.
  public var at: Revision?

  /// A fetch, by default of all objects of the entity.
  public init(
    entity: EntityNumber, predicate: String = "", sort: String = "", limit: UInt64 = 0, offset: UInt64 = 0,
    result: Result = .objects, properties: String = "", distinct: Bool = false, groupBy: String = "",
    after: [UInt8] = [], explain: Bool = false, at: Revision? = nil
  ) {
    self.entity = entity
    self.predicate = predicate
    self.sort = sort
    self.limit = limit
    self.offset = offset
    self.result = result
    self.properties = properties
    self.distinct = distinct
    self.groupBy = groupBy
    self.after = after
    self.explain = explain
    self.at = at
  }
}
