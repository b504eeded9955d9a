import GraphModel

/// The text by which a user recognizes an object. A model does not name a property for this, so one is chosen.
enum ObjectTitle {
  /// The properties that are preferred, in this order.
  private static let preferred = ["text", "name", "title", "label"]

  /// The first line of the object's text, name, title or label. An entity without these has its first string that is
  /// not empty, otherwise the names and values of its first two other attributes.
  /// - Returns: nil if all of them are empty.
  static func text(_ image: ObjectImage, in model: Model) -> String? {
    guard let entity = model.entity(image.id.entity) else { return nil }
    let texts = entity.attributes.filter {
      [.string, .text].contains($0.attribute?.kind) && $0.attribute?.assignment != .creator
    }
    let named = preferred.compactMap { name in texts.first { $0.name == name } }
    for property in named.isEmpty ? texts : named {
      guard let text = image[property].stringValue else { continue }
      let line = TextTable.firstLine(text)
      if !line.isEmpty { return line }
    }
    guard named.isEmpty else { return nil }
    let others = entity.attributes.filter { attribute in
      ![.string, .text, .data, .json].contains(attribute.attribute?.kind) && attribute.slot != nil
        && !image[attribute].isNull
    }
    let values = others.prefix(2).map { "\($0.name) \(image[$0].json(kind: $0.attribute?.kind).text)" }
    return values.isEmpty ? nil : values.joined(separator: ", ")
  }
}
