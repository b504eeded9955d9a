import GraphModel
import GraphTesting
import Testing

@testable import GraphHTTP

/// The description of the interface to a model.
@Suite struct APIDescriptionTests {
  @Test func everyEntityHasItsPaths() throws {
    for model in [try Fixtures.company(), try Fixtures.stickies()] {
      let json = APIDescription(model: model).json
      #expect(json["openapi"]?.stringValue == "3.1.0")
      let paths = try #require(json["paths"])
      for entity in model.entities {
        #expect((paths["/v1/objects/\(entity.name)"]?["post"] == nil) == entity.isAbstract)
        #expect(paths["/v1/objects/\(entity.name)/{id}"]?["patch"] != nil)
        #expect(json["components"]?["schemas"]?[entity.name] != nil)
      }
      // The text is valid JSON without duplicate names.
      #expect(try JSON(parsing: json.text).text == json.text)
    }
  }

  @Test func abstractEntityHasNoPost() async throws {
    try await ServedHTTP.serve { (served) async throws in
      let answer = try await served.post("/v1/objects/Party", "{}")
      #expect(answer.status == 405 && answer.fields["allow"] == "GET, HEAD", "\(answer)")
    }
  }

  @Test func everyMethodOfARouteIsDescribed() throws {
    let paths = try #require(APIDescription(model: try Fixtures.company()).json["paths"]?.members)
    for path in paths where path.name != "/openapi.json" {
      let route = try Route(path: Substring(path.name.replacing("{id}", with: "x")))
      for method in route.methods where !(method == .post && path.name.hasSuffix("/Party")) {
        #expect(path.value[method.rawValue.lowercased()] != nil, "\(method) \(path.name)")
      }
    }
  }
}
