import GraphModel
import Testing

/// Generated declarations carry the documentation of the model file, where editors show it.
@Suite struct GeneratedDocumentationTests {
  private static let source = """
    {"format": 1, "name": "Garden", "version": 1, "documentation": "The garden.\\n\\nIn two paragraphs.",
     "enumerations": [
       {"name": "Season", "documentation": "The season.", "cases": ["spring", "autumn"]},
       {"name": "Soil", "cases": ["sand"]}],
     "composites": [{"name": "Spot", "documentation": "The spot.", "attributes": [
       {"name": "row", "type": "integer", "documentation": "The row."},
       {"name": "shade", "type": "double", "optional": true}]}],
     "entities": [
       {"name": "Grown", "abstract": true, "documentation": "A growing plant.", "attributes": [
         {"name": "planted", "type": "date", "documentation": "The day.\\nOn a second line."}]},
       {"name": "Tree", "parent": "Grown", "documentation": "The tree.",
        "attributes": [
          {"name": "height", "type": "integer", "default": 2, "documentation": "The height."},
          {"name": "season", "type": "enumeration", "enumeration": "Season", "documentation": "Its season."},
          {"name": "key", "type": "integer", "derived": "height * 2", "documentation": "The key."},
          {"name": "seen", "type": "bool", "transient": true, "default": false, "documentation": "Of seeing."},
          {"name": "spot", "type": "composite", "composite": "Spot", "documentation": "Its spot."},
          {"name": "shadow", "type": "composite", "composite": "Spot", "optional": true,
            "documentation": "Its shadow."},
          {"name": "plain", "type": "string"}],
        "relationships": [
          {"name": "bed", "destination": "Bed", "inverse": "trees", "documentation": "The bed."}]},
       {"name": "Bed",
        "relationships": [
          {"name": "trees", "destination": "Tree", "inverse": "bed", "toMany": true, "ordered": true,
            "documentation": "Its trees."}]}],
     "fetchRequests": [{"name": "tall", "entity": "Tree", "predicate": "height > 9", "documentation": "Of tall ones."}]}
    """

  /// The documentation of each declaration that begins with `declaration`, between a line that begins with `head` and
  /// its closing bracket; without a declaration, the documentation of the head.
  private func comments(_ source: String, _ head: String, _ declaration: String? = nil) -> [String] {
    var found = [String]()
    var comment = [Substring]()
    var isInside = false
    for line in source.split(separator: "\n", omittingEmptySubsequences: false) {
      let text = line.drop { $0 == " " }
      if text.hasPrefix("///") {
        comment.append(text.dropFirst(4))
        continue
      }
      let isHead = line.hasPrefix(head)
      if isHead { isInside = true }
      if declaration.map({ isInside && text.hasPrefix($0) }) ?? isHead { found.append(comment.joined(separator: "\n")) }
      if line == "}" { isInside = false }
      if !text.hasPrefix("@") { comment = [] }
    }
    return found
  }

  @Test func everyPartOfAModelIsDocumentedWhereItIsDeclared() throws {
    let compiler = try Compiler()
    let swift = try compiler.classes(of: Self.source)
    try compiler.clean()
    #expect(comments(swift, "public enum GardenModel") == ["The garden.\n\nIn two paragraphs."])
    #expect(comments(swift, "public enum Season:") == ["The season."])
    #expect(comments(swift, "public struct Spot:") == ["The spot."])
    #expect(comments(swift, "open class Grown:") == ["A growing plant."])
    #expect(comments(swift, "open class Tree:") == ["The tree."])
    // An undocumented part has its name as its documentation.
    #expect(comments(swift, "public enum Soil:") == ["Soil"])
    #expect(comments(swift, "open class Bed:") == ["Bed"])

    let members = [
      ("Grown", "planted", "The day.\nOn a second line."), ("Tree", "height", "The height."),
      ("Tree", "season", "Its season."), ("Tree", "key", "The key."), ("Tree", "spot", "Its spot."),
      ("Tree", "shadow", "Its shadow."), ("Tree", "plain", "plain"), ("Tree", "bed", "The bed."),
      ("Bed", "trees", "Its trees."), ("Tree", "seen", "Of seeing."),
    ]
    let additions = [
      "height": "\n\nBy default `2`.", "seen": "\n\nBy default `false`.", "shadow": "\n\nNil if all members are null.",
    ]
    for (entity, name, words) in members {
      let declaration = "public var `\(name)`:"
      #expect(comments(swift, "open class \(entity):", declaration) == [words + (additions[name] ?? "")])
      // Typed predicates have the same names, except those of transient properties.
      let typed = comments(swift, "extension ObjectPath where Object: \(entity) ", declaration)
      #expect(typed == (name == "seen" ? [] : [words]))
    }
    #expect(comments(swift, "extension Tree ", "public static func `tall`(") == ["Of tall ones."])
    for head in [
      "public struct Spot:", "extension CompositePath where Composite == Tree_spot ",
      "extension CompositePath where Composite == Tree_shadow ",
    ] {
      #expect(comments(swift, head, "public var `row`:") == ["The row."], "\(head)")
      #expect(comments(swift, head, "public var `shade`:") == ["shade"], "\(head)")
    }
  }

  /// Every part of the guides' model has the documentation of the model file.
  @Test func guidesModelIsDocumentedToo() throws {
    let compiler = try Compiler()
    let swift = try compiler.classes(ofSchema: "Company")
    try compiler.clean()
    let model = CompanyModel.model
    func words(_ documentation: String, _ name: String) -> String { documentation.isEmpty ? name : documentation }
    #expect(comments(swift, "public enum CompanyModel") == [model.documentation])
    for part in model.enumerations {
      #expect(comments(swift, "public enum \(part.name):") == [words(part.documentation, part.name)])
    }
    for part in model.composites {
      #expect(comments(swift, "public struct \(part.name):") == [words(part.documentation, part.name)])
    }
    var count = 0
    for entity in model.entities {
      #expect(comments(swift, "open class \(entity.name):") == [words(entity.documentation, entity.name)])
      // The members of composites and places in an order are declared elsewhere.
      for property in entity.properties where property.owner == entity.number && !property.name.contains(".") {
        let found = comments(swift, "open class \(entity.name):", "public var `\(property.name)`:")
        #expect(found.count == 1, "\(entity.name).\(property.name)")
        let expected = words(property.documentation, property.name)
        #expect(found.first?.hasPrefix(expected) == true, "\(entity.name).\(property.name)")
        count += 1
      }
    }
    #expect(count > 30)
  }
}
