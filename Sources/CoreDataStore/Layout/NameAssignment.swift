/// Assigns parts of a model to places of a store, which may be of an earlier version of the app.
///
/// A place is an entity's rows, a column or a table of pairs. Each part has the possible places of its names that the
/// store has, that of the present name first. A part with one possible place has it, so the others look for another
/// one; then each takes its first. If an app has exchanged names, a store of the version before has the same places,
/// and no name distinguishes the versions.
struct NameAssignment<Part: Hashable> {
  /// The place of each part that has a possible one. Several parts may have the same.
  private(set) var places = [Part: String]()
  /// The parts that can have each other's places, with those whose places they can have.
  private(set) var exchangeable = [Part: [Part]]()

  /// - Parameters:
  ///   - parts: the possible places of each part, that of its present name first.
  ///   - room: how many parts can have a place; by default one.
  ///   - isPresent: whether the store itself says that a part has its present name there.
  init(
    _ parts: [(part: Part, places: [String])], room: [String: Int] = [:], isPresent: (Part, String) -> Bool
  ) {
    var room = room
    var rest = parts.filter { !$0.places.isEmpty }
    while !rest.isEmpty {
      // A part whose other places are taken has no choice either.
      func open(_ places: [String]) -> [String] {
        let open = places.filter { room[$0, default: 1] > 0 }
        return open.isEmpty ? Array(places.prefix(1)) : open
      }
      let next = rest.firstIndex { open($0.places).count == 1 } ?? rest.startIndex
      let taken = rest.remove(at: next)
      let place = open(taken.places)[0]
      places[taken.part] = place
      room[place, default: 1] -= 1
    }
    findExchanges(parts, isPresent)
  }

  /// Finds the parts from which a path over their other places leads back to them.
  private mutating func findExchanges(_ parts: [(part: Part, places: [String])], _ isPresent: (Part, String) -> Bool) {
    let owners = Dictionary(grouping: places.keys) { places[$0] }
    var others = [Part: [Part]]()
    for (part, possible) in parts {
      guard let own = places[part], own == possible.first, possible.count > 1, !isPresent(part, own) else { continue }
      others[part] = possible.dropFirst().flatMap { owners[$0, default: []] }
    }
    for part in others.keys {
      var reached = Set<Part>()
      var open = others[part, default: []]
      while let next = open.popLast() {
        if reached.insert(next).inserted { open += others[next, default: []] }
      }
      if reached.contains(part) { exchangeable[part] = others[part] }
    }
  }
}
