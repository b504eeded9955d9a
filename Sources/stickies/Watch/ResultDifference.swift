import GraphModel
import GraphWire

/// What a result that came whole differs in from the one that was told before it: commits that are too large to be told
/// change by change leave nothing else to tell them by.
struct ResultDifference {
  /// What came, in the order of the new result, among what changed; then what went, by its id.
  private(set) var changes = [Delta.Change]()
  private let model: Model

  /// So many changes are told one by one; of more, how many of each kind there are.
  static let toldOneByOne = 10

  init(from old: [ObjectImage], to new: [ObjectImage], model: Model) {
    self.model = model
    var gone = [ObjectID: ObjectImage]()
    for image in old { gone[image.id] = image }
    for image in new {
      guard let before = gone.removeValue(forKey: image.id) else {
        changes.append(Delta.Change(kind: .inserted, id: image.id, object: image))
        continue
      }
      let edits = (model.entity(image.id.entity)?.properties ?? []).compactMap { property in
        property.slot == nil || before[property] == image[property]
          ? nil : Edit(property.number, .set(image[property]))
      }
      if !edits.isEmpty { changes.append(Delta.Change(kind: .updated, id: image.id, object: image, edits: edits)) }
    }
    for (id, image) in gone.sorted(by: { $0.key < $1.key }) {
      changes.append(Delta.Change(kind: .removed, id: id, object: image))
    }
  }

  /// `3 came, 2500 changed (salary, remote), 1 went`.
  var counts: String {
    var parts = [String]()
    func count(_ kind: Delta.Change.Kind) -> Int { changes.count { $0.kind == kind } }
    if count(.inserted) > 0 { parts.append("\(count(.inserted)) came") }
    if count(.updated) > 0 {
      let names = properties.isEmpty ? "" : " (\(properties.joined(separator: ", ")))"
      parts.append("\(count(.updated)) changed\(names)")
    }
    if count(.removed) > 0 { parts.append("\(count(.removed)) went") }
    return parts.joined(separator: ", ")
  }

  /// Which properties changed in any of the objects, in the order of the model. That an object was updated is no news.
  private var properties: [String] {
    var seen = Set<PropertyNumber>()
    let numbers = changes.flatMap { $0.edits.map(\.property) }.filter { seen.insert($0).inserted }
    return numbers.compactMap { model.property($0) }.filter { $0.attribute?.assignment != .updated }.map(\.name)
  }
}
