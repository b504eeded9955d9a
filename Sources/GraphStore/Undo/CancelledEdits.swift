import GraphModel

/// Which of an object's later edits of its texts came to nothing, because they have been undone. Undo goes back step by
/// step, so between a step and its own undo there usually are others with theirs, and a deletion that was undone has its
/// letters put in anew: to the step they would be somebody else's. So edits and their undos are taken out of the way
/// together.
///
/// Only texts and places in an order need it: other values are compared, and a value that came back is the same. A
/// place may come back under another number, where room was made.
struct CancelledEdits {
  /// By the text's property.
  private var revisions = [PropertyNumber: Set<Revision>]()
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
      guard let property = model.property(number), property.attribute?.kind == .text || property.isPlace else {
        continue
      }
      let found = try past.filter { event in
        try !own.contains(event.revision)
          && (property.isPlace ? event.change.moves(number) : event.change.splices(number))
          && cancelled(event.author)[event.revision] != nil
      }
      revisions[number] = Set(found.map(\.revision))
      if property.isPlace { continue }
      let revivals = past.dropFirst().filter { $0.change.kind == .inserted }
      let places = Set((found + revivals).map(\.revision))
      guard !places.isEmpty else { continue }
      guard let text = image?[property].stringValue, text.utf8.count * places.count <= Self.maximumSize else {
        continue
      }
      readTexts(property, back: text, past, places)
    }
  }

  private mutating func readTexts(
    _ property: Property, back text: String, _ past: [HistoryReader.Event], _ places: Set<Revision>
  ) {
    var value = Value.string(text)
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

  func contains(_ property: PropertyNumber, _ revision: Revision) -> Bool {
    revisions[property]?.contains(revision) == true
  }

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

  fileprivate func moves(_ number: PropertyNumber) -> Bool {
    !spacing.contains(number) && edits.contains { $0.property == number }
  }

  fileprivate func splices(_ number: PropertyNumber) -> Bool {
    edits.contains { edit in
      guard edit.property == number, case .splice = edit.action else { return false }
      return true
    }
  }
}
