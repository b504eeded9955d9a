import GraphModel

/// Which of an object's later edits came to nothing, because they have been undone. Undo goes back step by step, so
/// between a step and its own undo there usually are others with theirs, and a deletion that was undone has its letters put
/// in again: to the step they would be another author's. So edits and their undos are taken out of the way together.
///
/// An undo may leave a property as another author has set it. So an edit counts as undone only where the other commit of
/// the two has touched the same property. A place may come back under another number, where room was made.
struct CancelledEdits {
  /// The newer one of the two, by the revision of either.
  private var pairs = [PropertyNumber: [Revision: Revision]]()
  /// The text behind a cancelled edit, and behind a revival.
  private var texts = [Place: String]()

  private struct Place: Hashable {
    let property: PropertyNumber
    let revision: Revision
  }

  /// So many bytes of texts are held at most; where there would be more, the letters' places are less exact.
  private static let maximumSize = 64 << 20

  /// - Parameters:
  ///   - properties: what the step edited.
  ///   - own: the step's revisions.
  ///   - image: the object behind the last event.
  ///   - cancelled: the commits of an author that came to nothing.
  init(
    _ properties: Set<PropertyNumber>, in past: [HistoryReader.Event], own: Set<Revision>, image: ObjectImage?,
    model: Model, cancelled: (_ author: String) throws -> [Revision: Revision]
  ) throws {
    for number in properties.sorted() {
      guard let property = model.property(number) else { continue }
      let touching = Set(past.filter { $0.change.kind == .inserted || $0.change.edits(number) }.map(\.revision))
      var pairs = [Revision: Revision]()
      for event in past where !own.contains(event.revision) && event.change.moves(number) {
        guard let newer = try cancelled(event.author)[event.revision] else { continue }
        // An undo that did not touch it either had nothing to do, or was in another author's way.
        let isAlone = {
          past.allSatisfy { other in
            Bytes.equal(other.author, event.author) || other.revision < event.revision || other.revision > newer
              || !other.change.edits(number)
          }
        }
        if property.isPlace || touching.contains(newer) || isAlone() { pairs[event.revision] = newer }
      }
      self.pairs[number] = pairs
      guard property.attribute?.kind == .text else { continue }
      let revivals = past.dropFirst().filter { $0.change.kind == .inserted }
      let found = past.filter { pairs[$0.revision] != nil && $0.change.splices(number) }
      let places = Set((found + revivals).map(\.revision))
      guard !places.isEmpty else { continue }
      guard let text = image?[property], (text.stringValue ?? "").utf8.count * places.count <= Self.maximumSize else {
        continue
      }
      readTexts(property, back: text, past, places)
    }
  }

  private mutating func readTexts(
    _ property: Property, back text: Value, _ past: [HistoryReader.Event], _ places: Set<Revision>
  ) {
    var value = text
    for event in past.reversed() {
      if places.contains(event.revision) {
        texts[Place(property: property.number, revision: event.revision)] = value.stringValue
      }
      // What comes back may have been edited by the step that deleted it.
      if let kept = event.change.kept(property) { value = kept }
      for edit in event.change.edits.reversed() where edit.property == property.number {
        guard let old = edit.reversed.applied(to: value) else { return }
        value = old
      }
    }
  }

  /// For an edit that came to nothing, the newer one of the two commits.
  func pair(_ property: PropertyNumber, _ revision: Revision) -> Revision? { pairs[property]?[revision] }

  func text(_ property: PropertyNumber, behind revision: Revision) -> String? {
    texts[Place(property: property, revision: revision)]
  }
}

extension HistoryChange {
  /// What a delete kept of a property.
  func kept(_ property: Property) -> Value? {
    guard kind == .deleted, let slot = property.slot, slot < values.count else { return nil }
    return values[slot]
  }

  fileprivate func edits(_ number: PropertyNumber) -> Bool { edits.contains { $0.property == number } }

  /// Whether it does more to the property than make room for others.
  fileprivate func moves(_ number: PropertyNumber) -> Bool { !spacing.contains(number) && edits(number) }

  fileprivate func splices(_ number: PropertyNumber) -> Bool {
    edits.contains { edit in
      guard edit.property == number, case .splice = edit.action else { return false }
      return true
    }
  }
}
