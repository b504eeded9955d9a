import GraphModel
import GraphWire

/// The difference between two results of a query. Used for commits that are too large to be delivered as changes.
struct ResultDifference {
  /// Inserted and updated objects in the order of the new result, then removed objects by id.
  private(set) var changes = [Delta.Change]()
  private let model: Model

  /// Maximum number of changes that are printed individually; of more only the counts are.
  static let listedOneByOne = 10

  init(from old: [ObjectImage], to new: [ObjectImage], model: Model) {
    self.model = model
    var gone = [ObjectID: ObjectImage]()
    for image in old { gone[image.id] = image }
    for image in new {
      guard let before = gone.removeValue(forKey: image.id) else {
        changes.append(Delta.Change(kind: .inserted, id: image.id, object: image))
        continue
      }
      let properties = if let entity = model.entity(image.id.entity) { entity.properties } else { [Property]() }
      let edits = properties.filter { $0.slot != nil && before[$0] != image[$0] }
        .map { Edit($0.number, .set(image[$0])) }
      if !edits.isEmpty { changes.append(Delta.Change(kind: .updated, id: image.id, object: image, edits: edits)) }
    }
    for (id, image) in gone.sorted(by: { $0.key < $1.key }) {
      changes.append(Delta.Change(kind: .removed, id: id, object: image))
    }
  }

  /// As in `3 inserted, 2500 changed (salary, remote), 1 removed`.
  var counts: String {
    var parts = [String]()
    func count(_ kind: Delta.Change.Kind) -> Int { changes.count { $0.kind == kind } }
    if count(.inserted) > 0 { parts.append("\(count(.inserted)) inserted") }
    if count(.updated) > 0 {
      let names = properties.isEmpty ? "" : " (\(properties.joined(separator: ", ")))"
      parts.append("\(count(.updated)) changed\(names)")
    }
    if count(.removed) > 0 { parts.append("\(count(.removed)) removed") }
    return parts.joined(separator: ", ")
  }

  /// The properties that changed in any of the objects, in the order of the model, without update times.
  private var properties: [String] {
    var seen = Set<PropertyNumber>()
    let numbers = changes.flatMap { $0.edits.map(\.property) }.filter { seen.insert($0).inserted }
    return numbers.compactMap { model.property($0) }
      .filter { $0.attribute?.assignment != .updated && !$0.isHidden }.map(\.name)
  }
}
