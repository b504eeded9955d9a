/// What one commit does to the live queries that read more than an object's own image: found by whoever commits, because
/// only there the objects at the other end of a path are at hand.
public struct RelatedEffects: Hashable, Sendable {
  /// What one commit does to one query.
  public struct Effect: Hashable, Sendable {
    /// Its number.
    public var query: UInt64
    /// Each object once, by id.
    public var changes: [LiveQueryChange]

    /// What the query's readers are to be told.
    public init(query: UInt64, changes: [LiveQueryChange]) {
      self.query = query
      self.changes = changes
    }
  }

  /// Queries up to this number were known when the commit was made; of later ones nothing is said.
  public var knownThrough: UInt64
  /// By ascending number.
  public var effects: [Effect]
  /// Queries that cost more to judge than to read again: ascending numbers.
  public var unknown: [UInt64]

  /// Nothing happened, unless more is said.
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
