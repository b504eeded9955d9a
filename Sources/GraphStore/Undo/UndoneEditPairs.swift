// Tests: UndoPastOthersTests.swift, UndoNullTextTests.swift
import GraphModel

/// The later edits of an object that have been undone, among the changes that a walk along its past returned.
///
/// Undo goes back step by step, so between a step and its undo there are usually other steps with their undos. The
/// undo of a deletion reinserts characters, which the step would take for another author's. So an edit and its undo
/// are cancelled together.
///
/// An undo may leave a property as another author has set it. So an edit counts as undone only if the undoing commit
/// changed the same property. A position may be restored with another number, after space was made.
struct UndoneEditPairs {
  /// The newer commit of a pair, by the revision of either one.
  private var pairs = [PropertyNumber: [Revision: Revision]]()
  /// The text after a cancelled edit, and after a revival.
  private var texts = [PropertyRevision: String]()

  private struct PropertyRevision: Hashable {
    let property: PropertyNumber
    let revision: Revision
  }

  /// The maximum total size of the texts in bytes; beyond it, the places of characters are less exact.
  private static let maximumSize = 64 << 20

  /// - Parameters:
  ///   - properties: the properties that the step edited.
  ///   - own: the step's revisions.
  ///   - image: the object after the last event.
  ///   - cancelled: returns the cancelled commits of an author.
  init(
    _ properties: Set<PropertyNumber>, in past: [HistoryReader.RecordedChange], own: Set<Revision>, image: ObjectImage?,
    model: Model, cancelled: (_ author: String) throws -> [Revision: Revision]
  ) throws {
    for number in properties.sorted() {
      guard let property = model.property(number) else { continue }
      let touching = Set(past.filter { $0.change.kind == .inserted || $0.change.edits(number) }.map(\.revision))
      var pairs = [Revision: Revision]()
      for event in past where !own.contains(event.revision) && event.change.moves(number) {
        guard let newer = try cancelled(event.author)[event.revision] else { continue }
        // An undo that did not change the property either had nothing to do, or another author's change prevented it.
        let isAlone = {
          past.allSatisfy { other in
            UTF8Comparison.equal(other.author, event.author) || other.revision < event.revision
              || other.revision > newer
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
      guard let text = image?[property], text.editedText.utf8.count * places.count <= Self.maximumSize else { continue }
      readTexts(property, back: text, past, places)
    }
  }

  private mutating func readTexts(
    _ property: Property, back text: Value, _ past: [HistoryReader.RecordedChange], _ places: Set<Revision>
  ) {
    var value = text
    for event in past.reversed() {
      if places.contains(event.revision) {
        texts[PropertyRevision(property: property.number, revision: event.revision)] = value.stringValue
      }
      // The step that deleted the object may have edited it too.
      if let kept = event.change.kept(property) { value = kept }
      for edit in event.change.edits.reversed() where edit.property == property.number {
        // A migration or damage changed the text between two commits: its older forms are unknown.
        guard let old = edit.reversed.applied(to: value) else { return }
        value = old
      }
    }
  }

  /// For a cancelled edit, the newer commit of the pair.
  func pair(_ property: PropertyNumber, _ revision: Revision) -> Revision? { pairs[property]?[revision] }

  func text(_ property: PropertyNumber, behind revision: Revision) -> String? {
    texts[PropertyRevision(property: property, revision: revision)]
  }
}

extension HistoryChange {
  /// The value of a property that a delete kept.
  func kept(_ property: Property) -> Value? {
    guard kind == .deleted, let slot = property.slot, slot < values.count else { return nil }
    return values[slot]
  }

  /// The value of a property that a delete kept; null if it has none, because the property was added later.
  func keptValue(_ property: Property) -> Value {
    if let value = kept(property) { value } else { .null }
  }

  fileprivate func edits(_ number: PropertyNumber) -> Bool { edits.contains { $0.property == number } }

  /// Whether the change of the property is more than spacing.
  fileprivate func moves(_ number: PropertyNumber) -> Bool { !spacing.contains(number) && edits(number) }

  fileprivate func splices(_ number: PropertyNumber) -> Bool {
    edits.contains { edit in
      guard edit.property == number, case .splice = edit.action else { return false }
      return true
    }
  }
}
