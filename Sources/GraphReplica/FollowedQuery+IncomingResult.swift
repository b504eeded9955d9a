// Tests: ReconnectTests.swift, RestoredStoreTests.swift
import GraphModel
import GraphWire

extension FollowedQuery {
  /// A result that is being received.
  struct IncomingResult {
    enum Progress {
      /// Further chunks follow.
      case receiving
      /// All chunks have arrived. `total` is the number of rows, for a window before limit and offset. An advance at
      /// or past `at` covers the result if it arrives after the last chunk; an earlier one does not.
      case complete(at: Token, total: UInt64, isCovered: Bool)
    }

    private(set) var progress = Progress.receiving
    var objects = [ObjectImage]()
    /// The damaged objects that the result lacks.
    var damage = DamageNotice()

    /// Records that the last chunk has arrived.
    mutating func complete(at token: Token, total: UInt64) {
      var wasCovered = false
      if case .complete(_, _, true) = progress { wasCovered = true }
      progress = .complete(at: token, total: total, isCovered: wasCovered)
    }

    /// Marks a complete result as covered if an advance reaches its state.
    mutating func cover(to revision: Revision) {
      if case .complete(let at, let total, _) = progress, at.revision <= revision {
        progress = .complete(at: at, total: total, isCovered: true)
      }
    }

    /// The state and the total of a result that is complete and covered; nil for any other.
    var coveredState: (at: Token, total: UInt64)? {
      guard case .complete(let at, let total, true) = progress else { return nil }
      return (at, total)
    }

    /// Advances a complete result to the revision of the last delta, as if it had been read there.
    /// - Parameter deltas: the query's deltas, in the order of revisions.
    mutating func fold(_ deltas: [Delta], store: UniqueID, model: Model) {
      guard case .complete(_, let total, let isCovered) = progress else {
        return assertionFailure("a result that deltas advance is complete")
      }
      // No other query published a commit while this result was on its way.
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
      let token = Token(store: store, revision: last.revision, fingerprint: last.fingerprint)
      progress = .complete(at: token, total: total, isCovered: isCovered)
    }
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
