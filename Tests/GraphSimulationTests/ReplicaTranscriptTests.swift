import Foundation
import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Testing

@testable import GraphSimulation

/// Transcripts of replicas, which the browser's replica replays. This replica must produce them, too.
@Suite struct ReplicaTranscriptTests {
  /// The trace of a run.
  private func trace(seed: UInt64, _ recorder: ReplicaRecorder?) throws -> [String] {
    let directory = try TemporaryDirectory()
    var lines = [String]()
    try Simulation(seed: seed, directory: directory.path, trace: { lines.append($0) }, recorder: recorder)
      .run(steps: 300)
    return lines
  }

  @Test func recordingDoesNotChangeRun() throws {
    let recorder = ReplicaRecorder()
    let recorded = try trace(seed: 3, recorder)
    #expect(try recorded == trace(seed: 3, nil))
    #expect(recorder.transcripts.count >= 3)
    let lines = recorder.transcripts.flatMap(\.lines)
    for type in ["received", "save", "send", "loaded", "changed", "saved"] {
      #expect(lines.contains { $0.contains("{\"type\":\"\(type)\"") }, "\(type)")
    }
  }

  @Test func recordedTranscriptsAreReplayed() throws {
    let recorder = ReplicaRecorder()
    _ = try trace(seed: 4, recorder)
    for (name, lines) in recorder.transcripts { try replay(lines, name) }
  }

  /// After a change of the replica, Tests/WebTests/transcripts.test.mjs says how new ones are made. The browser's has
  /// to follow.
  @Test func committedTranscriptsAreReplayed() throws {
    let folder = "\(Fixtures.root)/Tests/WebTests/transcripts"
    let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".jsonl") }
    #expect(names.contains("written.jsonl"))
    for name in names {
      let text = try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
      try replay(text.split(separator: "\n").map(String.init), name)
    }
  }

  /// The model of a transcript: a model of the simulation, or the notes' model if the transcript names none.
  private func model(_ head: JSON) throws -> Model {
    let hash = try Bytes.hex(head, "model")
    if hash.isEmpty { return try Fixtures.stickies() }
    let versions = try SimulationVersions.load()
    let models = [try SimulationModel.load(), versions.older, versions.newer]
    return try #require(models.first { $0.hash.bytes == hash }, "no simulation has the model")
  }

  /// A replica as the head of a transcript describes it, with the model by which a context applies edits.
  private func replica(_ head: JSON) throws -> Replica {
    let model = try model(head)
    let id = try #require(UniqueID(bytes: try Bytes.hex(head, "id")))
    let hash = try Bytes.hex(head, "model").isEmpty ? nil : model.hash
    let sequence = head["lastSequence"]?.integerValue.map { UInt64($0) }
    let replica = Replica(
      id: id, author: try #require(head["author"]?.stringValue), model: hash, lastSequence: sequence ?? 0)
    return ObjectContext(model: model, replica: replica).replica
  }

  /// Replays the events, and compares the actions. A file can have several transcripts.
  private func replay(_ lines: [String], _ name: String) throws {
    var current: Replica?
    for (index, line) in lines.enumerated() {
      let expected = try JSON(parsing: line)
      guard let json = expected["event"] else {
        current = try replica(expected)
        continue
      }
      var replica = try #require(current, "\(name) has no head")
      let event = try Bytes.event(json)
      let actions = replica.handle(event)
      current = replica
      let made = try JSON(parsing: ReplicaTranscript.line(event, actions, deadline: replica.deadline))
      try #require(made["actions"] == expected["actions"], "\(name):\(index + 1)")
      try #require(made["deadline"] == expected["deadline"], "\(name):\(index + 1)")
    }
  }
}

/// Reads the events of a transcript.
private enum Bytes {
  static func hex(_ json: JSON, _ name: String) throws -> [UInt8] {
    let digits = Array(try #require(json[name]?.stringValue, "\(name) is missing"))
    return try stride(from: 0, to: digits.count, by: 2).map { place in
      try #require(UInt8(String(digits[place...(place + 1)]), radix: 16))
    }
  }

  private static func number(_ json: JSON, _ name: String) throws -> UInt64 {
    UInt64(try #require(json[name]?.integerValue, "\(name) is missing"))
  }

  static func event(_ json: JSON) throws -> ReplicaEvent {
    switch try #require(json["type"]?.stringValue) {
    case "connected": .connected
    case "credential": .credential(try #require(json["credential"]?.stringValue))
    case "received": .received(try ToClient(binary: hex(json, "message")))
    case "disconnected": .disconnected
    case "save": .save(try Transaction(binary: hex(json, "transaction")))
    case "undo": .undo(try UndoRequest(binary: hex(json, "undo")))
    case "restore": .restore(try RestoreRequest(binary: hex(json, "restore")))
    case "subscribe":
      .subscribe(
        try number(json, "query"), try Subscribe(binary: hex(json, "subscribe")),
        atMost: json["atMost"]?.integerValue.map { Int($0) })
    case "unsubscribe": .unsubscribe(try number(json, "query"))
    case "moveWindow":
      .moveWindow(try number(json, "query"), offset: try number(json, "offset"), limit: try number(json, "limit"))
    case "request": .request(try number(json, "request"), try ToServer(binary: hex(json, "message")).body)
    case "more": .more(try number(json, "request"))
    case "cancel": .cancel(try number(json, "request"))
    case "renew": .renew(try #require(UniqueID(bytes: try hex(json, "id"))))
    case "presence": .presence(try hex(json, "state"))
    case "tick": .tick(try #require(json["milliseconds"]?.integerValue))
    case let type: throw UnknownEvent(type: type)
    }
  }

  private struct UnknownEvent: Error { let type: String }
}
