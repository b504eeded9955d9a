/// A commit's effects on live queries that read other objects. The committing side computes them, because only there
/// the objects at the end of a path are available.
public struct PathQueryEffects: Hashable, Sendable {
  /// A commit's effect on one query.
  public struct Effect: Hashable, Sendable {
    /// The query's number.
    public var query: UInt64
    /// The changes, one per object, by id.
    public var changes: [LiveQueryChange]

    /// Creates the effect for a query's readers.
    public init(query: UInt64, changes: [LiveQueryChange]) {
      self.query = query
      self.changes = changes
    }
  }

  /// The highest number of the queries known at the commit; the effects on later ones are not included.
  public var knownThrough: UInt64
  /// The effects, by ascending number.
  public var effects: [Effect]
  /// The ascending numbers of queries that were too expensive to evaluate and must be fetched again.
  public var unknown: [UInt64]

  /// Creates effects, by default none.
  public init(knownThrough: UInt64, effects: [Effect] = [], unknown: [UInt64] = []) {
    self.knownThrough = knownThrough
    self.effects = effects
    self.unknown = unknown
  }

  var approximateSize: Int {
    effects.reduce(64) { size, effect in
      effect.changes.reduce(size + 48) { size, change in
        switch change {
        case .inserted(let image), .updated(let image, _, _), .removed(let image, _):
          image.values.reduce(size + 64) { $0 + $1.approximateSize }
        }
      }
    }
  }
}
