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

  @Test func conditionalReadsAndLinesAreDescribed() throws {
    let paths = try #require(APIDescription(model: try Fixtures.company()).json["paths"])
    for path in ["/v1/objects/Project", "/v1/objects/Project/{id}", "/v1/model"] {
      let get = paths[path]?["get"]
      #expect(get?["responses"]?["304"] != nil, "\(path)")
      let headers = get?["parameters"]?.arrayValue?.filter { $0["in"] == .string("header") }
      #expect(headers?.compactMap { $0["name"]?.stringValue } == ["If-None-Match"], "\(path)")
    }
    let content = paths["/v1/objects/Project"]?["get"]?["responses"]?["200"]?["content"]?.members
    #expect(content?.map(\.name) == ["application/json", "application/x-ndjson"])
    #expect(paths["/v1/history"]?["get"]?["responses"]?["304"] == nil)
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
        let operation = path.value[method.rawValue.lowercased()]
        #expect(operation != nil, "\(method) \(path.name)")
        let described = operation?["parameters"]?.arrayValue?.filter { $0["in"] == .string("query") }
        let names = described?.compactMap { $0["name"]?.stringValue }
        #expect((names ?? []) == route.parameters(of: method), "\(method) \(path.name)")
      }
    }
  }
}
