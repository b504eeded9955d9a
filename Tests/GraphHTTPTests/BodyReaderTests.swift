import GraphModel
import Testing

@testable import GraphHTTP

/// Malformed bodies of requests.
@Suite struct BodyReaderTests {
  @Test(arguments: [
    (#"{"a":1,"b":{"c":1,"c":2}}"#, "/b/c"), (#"{"a":[0,1e999]}"#, "/a/1"), (#"{"a":"\ud800"}"#, "/a"),
    (#"{"a/b":{"c~d":nul}}"#, "/a~1b/c~0d"),
    ("[" + String(repeating: "[", count: 200), String(repeating: "/0", count: 144)),
    (#"{"a":"\u+123"}"#, "/a"), ("", ""),
  ])
  func mistakeHasAPointer(body: String, pointer: String) {
    let problem = #expect(throws: Problem.self) { try BodyReader.document(Array(body.utf8)) }
    #expect(problem?.status == .badRequest && problem?.pointer == pointer, "\(String(describing: problem))")
  }

  @Test func bytesThatAreNotTextAreRefused() {
    #expect(throws: Problem.self) { try BodyReader.document([0x22, 0xFF, 0x22]) }
    #expect(throws: Problem.self) { try BodyReader.document(Array("{}".utf8) + [0]) }
  }
}
