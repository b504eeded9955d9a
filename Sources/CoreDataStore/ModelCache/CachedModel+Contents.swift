/// The model as the file `contents` of an `.xcdatamodel`, from which `graph-generate convert` makes a model file.
///
/// A store has no rules of values, and this text has neither those nor the fetch requests. It has a note in the place
/// of a part that is archived in a form that is not read.
extension CachedModel {
  /// The text of the file.
  package var contents: String {
    var lines = [
      "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>",
      "<model type=\"com.apple.IDECoreDataModeler.DataModel\" documentVersion=\"1.0\">",
    ]
    for entity in entities {
      let names = ancestors(of: entity).flatMap { $0.attributes.map(\.name) + $0.relationships.map(\.name) }
      let inherited = Set(names)
      lines.append(
        Self.element(
          "entity",
          [
            ("name", entity.name), ("parentEntity", entity.parent), ("isAbstract", entity.isAbstract ? "YES" : nil),
            ("elementID", entity.renamed),
          ],
          indent: 4, isOpen: true))
      lines += entity.attributes.filter { !inherited.contains($0.name) }.map(Self.line)
      lines += entity.relationships.filter { !inherited.contains($0.name) }.map(line)
      lines += entity.indexes.flatMap(Self.lines)
      lines += Self.constraints(entity.unique)
      lines.append("    </entity>")
    }
    return lines.joined(separator: "\n") + "\n</model>\n"
  }

  private func ancestors(of entity: Entity) -> [Entity] {
    var ancestors = [Entity]()
    var next = entity.parent.flatMap(self.entity)
    // A damaged model may have a circle.
    while let parent = next, ancestors.count < entities.count {
      ancestors.append(parent)
      next = parent.parent.flatMap(self.entity)
    }
    return ancestors
  }

  private static func line(_ attribute: Attribute) -> String {
    element(
      "attribute",
      [
        ("name", attribute.name), ("optional", attribute.isOptional ? "YES" : nil),
        ("transient", attribute.isTransient ? "YES" : nil), ("attributeType", attribute.typeName),
        ("derived", attribute.isDerived ? "YES" : nil), ("derivationExpression", attribute.isDerived ? archived : nil),
        defaultValue(of: attribute), ("valueTransformerName", attribute.transformer), ("elementID", attribute.renamed),
      ], indent: 8)
  }

  /// The default of an attribute. One that is not read stands where the attribute's type has no default, so that it is
  /// never mistaken for a value.
  private static func defaultValue(of attribute: Attribute) -> (name: String, value: String?) {
    let isDate = attribute.type == dateType
    switch attribute.defaultValue {
    case .text(let text)?: return (isDate ? "defaultDateTimeInterval" : "defaultValueString", text)
    case .archived?: return (isDate ? "defaultValueString" : "defaultDateTimeInterval", archived)
    case nil: return ("defaultValueString", nil)
    }
  }

  private static func lines(_ index: Index) -> [String] {
    let predicate = index.isPartial ? archived : nil
    let head = element(
      "fetchIndex", [("name", index.name), ("partialIndexPredicate", predicate)], indent: 8, isOpen: true)
    let elements = index.elements.map { part in
      element(
        "fetchIndexElement",
        [
          ("property", part.property), ("expression", part.property == nil ? archived : nil), ("type", "Binary"),
          ("order", part.isAscending ? "ascending" : "descending"),
        ],
        indent: 12)
    }
    return [head] + elements + ["        </fetchIndex>"]
  }

  /// In the place of a predicate, an expression or a default, which a conversion then reports.
  private static let archived = "(archived in the store)"

  private static let dateType: Int64 = 900

  private static let deleteRules: [Int64: String] = [0: "No Action", 1: "Nullify", 2: "Cascade", 3: "Deny"]

  private func line(_ relationship: Relationship) -> String {
    func count(_ number: Int64?) -> String? { number.flatMap { $0 > 0 ? String($0) : nil } }
    return Self.element(
      "relationship",
      [
        ("name", relationship.name), ("optional", relationship.isOptional ? "YES" : nil),
        ("toMany", relationship.isToMany ? "YES" : nil), ("minCount", count(relationship.minimumCount)),
        ("maxCount", count(relationship.maximumCount)),
        ("deletionRule", relationship.deleteRule.flatMap { Self.deleteRules[$0] }),
        ("ordered", relationship.isOrdered ? "YES" : nil), ("destinationEntity", relationship.destination),
        ("inverseName", relationship.inverse),
        ("inverseEntity", relationship.inverse == nil ? nil : relationship.destination),
        ("elementID", relationship.renamed),
      ], indent: 8)
  }

  private static func constraints(_ unique: [[String]]) -> [String] {
    if unique.isEmpty { return [] }
    let lines = unique.flatMap { names in
      ["            <uniquenessConstraint>"]
        + names.map { element("constraint", [("value", $0)], indent: 16) }
        + ["            </uniquenessConstraint>"]
    }
    return ["        <uniquenessConstraints>"] + lines + ["        </uniquenessConstraints>"]
  }

  /// An element with the attributes that have a value.
  private static func element(
    _ name: String, _ attributes: [(name: String, value: String?)], indent: Int, isOpen: Bool = false
  ) -> String {
    let text = attributes.compactMap { attribute in attribute.value.map { " \(attribute.name)=\"\(escaped($0))\"" } }
    return String(repeating: " ", count: indent) + "<\(name)\(text.joined())\(isOpen ? "" : "/")>"
  }

  private static func escaped(_ text: String) -> String {
    let marks: [Character: String] = ["&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;", "\n": "&#10;"]
    return text.map { marks[$0, default: String($0)] }.joined()
  }
}
