import Foundation
import GraphModel
import GraphTesting
import GraphWire
import Testing

/// Everything the fuzzer starts from and everything that it ever found, without the fuzzer: FuzzTarget.swift is the
/// very file of Fuzz/. A broken promise traps, so a failure here ends the test program and names its line.
@Suite struct FuzzReplayTests {
  private static func files(_ folder: String) throws -> [(name: String, bytes: [UInt8])] {
    try FileManager.default.contentsOfDirectory(atPath: "\(Fixtures.root)/\(folder)").sorted()
      .map { ($0, try Fixtures.file("\(folder)/\($0)")) }
  }

  @Test func earlierCrashersPass() throws {
    // Files of notes have targets of their own, which StickiesKitTests replays.
    let others = ["README.md", "markdown.", "rtf.", "plist."]
    for (name, bytes) in try Self.files("Fuzz/crashes") where !others.contains(where: { name.hasPrefix($0) }) {
      let target = FuzzTarget.allCases.first { name.hasPrefix($0.rawValue + ".") }
      try #require(target, "\(name) does not begin with the name of a target").run(bytes)
    }
  }

  @Test func everyGoldenMessageIsAccepted() throws {
    let golden = try GoldenMessage.all()
    #expect(golden.count > 30)
    for message in golden {
      let target: FuzzTarget = message.isToServer ? .toServer : .toClient
      var frame = [0, 0, 0, 0] + message.bytes
      Frame.setLength(&frame)
      for bytes in [message.bytes, frame, frame + frame, Array(frame.dropLast())] { target.run(bytes) }
    }
  }

  @Test func predicateSeedsRunAndMostAreParsed() throws {
    let model = try #require(FuzzTarget.everyType)
    let entity = try #require(model.entity(named: "Thing"))
    let seeds = try Self.files("Fuzz/seeds/predicate")
    var unread = Set<String>()
    for (name, bytes) in seeds {
      FuzzTarget.predicate.run(bytes)
      let text = String(decoding: bytes, as: UTF8.self)
      if (try? GraphPredicate(parsing: text, entity: entity, model: model)) == nil { unread.insert(name) }
    }
    #expect(seeds.count > 90)
    #expect(
      unread == [
        "unfinished.txt", "unclosed.txt", "matches-broken.txt", "variable.txt", "deep-brackets.txt", "deep-calls.txt",
        "deep-negations.txt", "deep-sums.txt",
      ])
  }

  @Test func patternSeedsRunAndInvalidOnesAreRefused() throws {
    let seeds = try Self.files("Fuzz/seeds/pattern")
    #expect(seeds.count > 10)
    for (name, bytes) in seeds {
      FuzzTarget.pattern.run(bytes)
      let line = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
      #expect(((try? RegularExpression(parsing: line)) == nil) == name.hasPrefix("broken-"), "\(name)")
    }
  }

  @Test func modelSeedsRunAndOneHasErrors() throws {
    for (name, bytes) in try Self.files("Fuzz/seeds/model") {
      FuzzTarget.model.run(bytes)
      #expect(((try? Model(parsing: bytes)) == nil) == (name == "mistakes.json"), "\(name)")
    }
    for version in 1...2 { FuzzTarget.model.run(try Fixtures.file("Schema/Stickies/\(version).json")) }
  }
}
