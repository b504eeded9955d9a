import GraphModel
import Testing

/// Generated declarations carry the documentation of the model file, where editors show it.
@Suite struct GeneratedDocumentationTests {
  private static let source = """
    {"format": 1, "name": "Garden", "version": 1, "documentation": "Of a garden.\\n\\nIn two paragraphs.",
     "enumerations": [
       {"name": "Season", "documentation": "Of a season.", "cases": ["spring", "autumn"]},
       {"name": "Soil", "cases": ["sand"]}],
     "composites": [{"name": "Spot", "documentation": "Of a spot.", "attributes": [
       {"name": "row", "type": "integer", "documentation": "Of a row."},
       {"name": "shade", "type": "double", "optional": true}]}],
     "entities": [
       {"name": "Grown", "abstract": true, "documentation": "Of what grows.", "attributes": [
         {"name": "planted", "type": "date", "documentation": "Of a day.\\nOn a second line."}]},
       {"name": "Tree", "parent": "Grown", "documentation": "Of a tree.",
        "attributes": [
          {"name": "height", "type": "integer", "default": 2, "documentation": "Of a height."},
          {"name": "season", "type": "enumeration", "enumeration": "Season", "documentation": "Of its season."},
          {"name": "key", "type": "integer", "derived": "height * 2", "documentation": "Of a key."},
          {"name": "seen", "type": "bool", "transient": true, "default": false, "documentation": "Of seeing."},
          {"name": "spot", "type": "composite", "composite": "Spot", "documentation": "Of its spot."},
          {"name": "shadow", "type": "composite", "composite": "Spot", "optional": true,
            "documentation": "Of its shadow."},
          {"name": "plain", "type": "string"}],
        "relationships": [
          {"name": "bed", "destination": "Bed", "inverse": "trees", "documentation": "Of a bed."}]},
       {"name": "Bed",
        "relationships": [
          {"name": "trees", "destination": "Tree", "inverse": "bed", "toMany": true, "ordered": true,
            "documentation": "Of its trees."}]}],
     "fetchRequests": [{"name": "tall", "entity": "Tree", "predicate": "height > 9", "documentation": "Of tall ones."}]}
    """

  /// The documentation of each declaration that begins so, between a line that begins with `head` and the bracket that
  /// closes it; without a declaration, of the head.
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
    #expect(comments(swift, "public enum GardenModel") == ["Of a garden.\n\nIn two paragraphs."])
    #expect(comments(swift, "public enum Season:") == ["Of a season."])
    #expect(comments(swift, "public struct Spot:") == ["Of a spot."])
    #expect(comments(swift, "open class Grown:") == ["Of what grows."])
    #expect(comments(swift, "open class Tree:") == ["Of a tree."])
    // An undocumented part has its name as its documentation.
    #expect(comments(swift, "public enum Soil:") == ["Soil"])
    #expect(comments(swift, "open class Bed:") == ["Bed"])

    let members = [
      ("Grown", "planted", "Of a day.\nOn a second line."), ("Tree", "height", "Of a height."),
      ("Tree", "season", "Of its season."), ("Tree", "key", "Of a key."), ("Tree", "spot", "Of its spot."),
      ("Tree", "shadow", "Of its shadow."), ("Tree", "plain", "plain"), ("Tree", "bed", "Of a bed."),
      ("Bed", "trees", "Of its trees."), ("Tree", "seen", "Of seeing."),
    ]
    let additions = [
      "height": "\n\nBy default `2`.", "seen": "\n\nBy default `false`.", "shadow": "\n\nNil if all members are null.",
    ]
    for (entity, name, words) in members {
      let declaration = "public var `\(name)`:"
      #expect(comments(swift, "open class \(entity):", declaration) == [words + (additions[name] ?? "")])
      // Typed predicates have the same names, but for what no store has.
      let typed = comments(swift, "extension ObjectPath where Object: \(entity) ", declaration)
      #expect(typed == (name == "seen" ? [] : [words]))
    }
    #expect(comments(swift, "extension Tree ", "public static func `tall`(") == ["Of tall ones."])
    for head in [
      "public struct Spot:", "extension CompositePath where Composite == Tree_spot ",
      "extension CompositePath where Composite == Tree_shadow ",
    ] {
      #expect(comments(swift, head, "public var `row`:") == ["Of a row."], "\(head)")
      #expect(comments(swift, head, "public var `shade`:") == ["shade"], "\(head)")
    }
  }

  /// Of the guides' model, part by part, as the model itself has it.
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
