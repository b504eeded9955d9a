import GraphModel

/// A part of a result, in the result's order.
public struct Chunk: Hashable, Sendable {
  /// Complete objects, or objects without values where identifiers were requested.
  public var objects: [ObjectImage]
  /// The rows, each with a value for each column.
  public var rows: [[Value]]
  /// The columns of rows; in the first chunk of an answer in rows.
  public var columns: [RowColumn]
  /// On the last chunk: the state that the result was read at, and the number of objects or rows.
  public var end: (at: Token, count: UInt64)?
  /// On the last chunk of a fetch with a limit: the cursor of the next page, empty if there is none.
  public var next: [UInt8]
  /// For a fetch that explains: how it is executed, instead of a result.
  public var explanation: FetchExplanation?
  /// On the last chunk of a window's rows: the number of rows of the query before limit and offset.
  public var total: UInt64?
  /// On the last chunk: the objects that the result omits because they are damaged.
  public var damage: DamageNotice

  /// A chunk of objects, rows or neither; the last chunk has `end`.
  public init(
    objects: [ObjectImage], rows: [[Value]] = [], columns: [RowColumn] = [], end: (at: Token, count: UInt64)? = nil,
    next: [UInt8] = [], explanation: FetchExplanation? = nil, total: UInt64? = nil,
    damage: DamageNotice = DamageNotice()
  ) {
    self.objects = objects
    self.rows = rows
    self.columns = columns
    self.end = end
    self.next = next
    self.explanation = explanation
    self.total = total
    self.damage = damage
  }

  public static func == (left: Chunk, right: Chunk) -> Bool {
    left.objects == right.objects && left.rows == right.rows && left.columns == right.columns
      && left.end?.at == right.end?.at && left.end?.count == right.end?.count && left.next == right.next
      && left.explanation == right.explanation && left.total == right.total && left.damage == right.damage
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(objects)
    hasher.combine(rows)
  }
}
