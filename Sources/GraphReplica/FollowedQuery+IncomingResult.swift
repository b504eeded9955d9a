import GraphModel
import GraphWire

extension FollowedQuery.IncomingResult {
  /// Advances the result to the revision of the last delta, as if it had been read there.
  /// - Parameter deltas: the query's deltas, in the order of revisions.
  mutating func fold(_ deltas: [Delta], store: UniqueID, model: Model) {
    guard let last = deltas.last else { return }
    var rows: [ObjectImage?] = objects
    var places = Dictionary(objects.enumerated().map { ($0.element.id, $0.offset) }) { _, newer in newer }
    for delta in deltas {
      for change in delta.changes {
        let place = places[change.id]
        switch change.kind {
        case .removed:
          if let place { rows[place] = nil }
        case .inserted:
          if let place {
            rows[place] = change.object
          } else {
            places[change.id] = rows.count
            rows.append(change.object)
          }
        case .updated:
          // An object that was read later than the rest may already include this delta.
          guard let place, var image = rows[place], image.revision < delta.revision else { continue }
          image.apply(change.edits, model: model)
          image.revision = delta.revision
          rows[place] = change.object ?? image
        }
      }
    }
    objects = rows.compactMap { $0 }
    at = Token(store: store, revision: last.revision, fingerprint: last.fingerprint)
  }
}

extension ObjectImage {
  /// Applies a delta's edits; an edit that does not fit the held value is skipped.
  mutating func apply(_ edits: [Edit], model: Model) {
    for edit in edits {
      guard let property = model.property(edit.property), let value = edit.applied(to: self[property]) else { continue }
      self[property] = value
    }
  }
}
