import Foundation
import GraphTesting
import StickiesFiles
import Testing

/// Everything that the fuzzer of files starts from and everything that it ever found, without the fuzzer:
/// NoteFuzzTarget.swift is the very file of Fuzz/. A broken promise traps, so a failure here ends the test program and
/// names its line.
@Suite struct NoteFuzzReplayTests {
  private func files(_ folder: String) throws -> [(name: String, bytes: [UInt8])] {
    try FileManager.default.contentsOfDirectory(atPath: "\(Fixtures.root)/\(folder)").sorted()
      .map { ($0, try Fixtures.file("\(folder)/\($0)")) }
  }

  private func isRead(_ target: NoteFuzzTarget, _ bytes: [UInt8]) -> Bool {
    switch target {
    case .markdown: (try? NoteFile(parsing: bytes)) != nil
    case .richText: (try? RichText(parsing: bytes)) != nil
    case .propertyList: (try? MacStickies(parsing: bytes)) != nil
    }
  }

  @Test func earlierCrashersPass() throws {
    let kept = try files("Fuzz/crashes")
    #expect(kept.contains { $0.name == "README.md" }, "what the fuzzer found is kept elsewhere")
    for (name, bytes) in kept {
      NoteFuzzTarget.allCases.first { name.hasPrefix($0.rawValue + ".") }?.run(bytes)
    }
  }

  @Test(arguments: NoteFuzzTarget.allCases)
  func seedsRunAndInvalidOnesAreRefused(target: NoteFuzzTarget) throws {
    let seeds = try files("Fuzz/seeds/\(target.rawValue)")
    #expect(seeds.count >= 4)
    #expect(seeds.contains { isRead(target, $0.bytes) })
    for (name, bytes) in seeds {
      target.run(bytes)
      if name.hasPrefix("broken") { #expect(!isRead(target, bytes), "\(name)") }
      // A text cut at any place is read or refused.
      for end in stride(from: 0, to: bytes.count, by: 7) { target.run(Array(bytes[..<end])) }
    }
  }
}
