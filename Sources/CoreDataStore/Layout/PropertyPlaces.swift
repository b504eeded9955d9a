import GraphModel

/// The possible places of a property in a store.
struct PropertyPlaces {
  let number: PropertyNumber
  /// The place of the present name; nil if the store has none.
  let present: String?
  /// The places of the names of earlier versions, oldest last, without the present one.
  let earlier: [String]
  /// Whether the property had another name in an earlier version, whose place would differ.
  let isRenamed: Bool
  /// Whether the caller gave the name.
  let isGiven: Bool

  /// All places, the present one first.
  var all: [String] { [present].compactMap(\.self) + earlier }
}

/// The version of the app that made a store, if its model has two.
///
/// An app can reuse a name, which then has a column in both versions. A model with more versions does not state in
/// which of them a property had which name, so nothing is derived from it.
enum StoreAge {
  case present, before

  /// Finds the version by the columns that exist in one version only; nil if there are none, or some of each.
  /// - Parameter isWhole: whether the model has all entities of the table.
  init?(_ model: Model, _ parts: [PropertyPlaces], isWhole: Bool) {
    guard model.version == 2 else { return nil }
    let named = parts.filter { !$0.isGiven }
    let present = Set(parts.compactMap(\.present))
    let isPresent = named.contains { $0.present != nil && $0.isRenamed && $0.earlier.isEmpty }
    let isBefore = named.contains { part in
      !part.earlier.isEmpty && (part.present == nil || isWhole && !part.earlier.contains(where: present.contains))
    }
    if isPresent == isBefore { return nil }
    self = isPresent ? .present : .before
  }
}
