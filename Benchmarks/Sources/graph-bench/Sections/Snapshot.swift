import Foundation
import GraphModel
import GraphWire

extension Bench {
  static let largeStore = 100_000

  /// Measures 100,000 notes to one client over the Unix-domain socket, beside SQLite and the encoder alone.
  func measureSnapshot() throws {
    let data = try filledStore(Self.largeStore)
    var (ours, raw, peaks, idle) = ([Double](), [Double](), [Double](), [Double]())
    var (library, libraryPeaks) = ([Double](), [Double]())
    for _ in 0..<Self.rounds {
      let daemon = try Daemon(self, data: data)
      defer { daemon.stop() }
      let client = try WireClient(daemon.unix)
      let growth = try peakGrowth(of: daemon.process) {
        ours.append(try timed { try snapshot(client, pausing: 0) })
      }
      peaks.append(growth)
      // A client that pauses after its first chunk.
      let patient = try WireClient(daemon.unix)
      idle.append(try peakGrowth(of: daemon.process) { try snapshot(patient, pausing: 1) })

      let limit = try RawSnapshot(data + "/graph.sqlite", client: client)
      var count = 0
      raw.append(try timed { count = try limit.run().count })
      guard count == Self.largeStore else { throw BenchmarkError(description: "the limit read \(count) notes") }

      let reader = try ServerProcess(mode: ["snapshot-client", "\(daemon.unix)"])
      let words = try reader.line().split(separator: " ").compactMap { Double($0) }
      reader.wait()
      guard words.count == 3, words[0] == Double(Self.largeStore) else {
        throw BenchmarkError(description: "the client library's reader fails")
      }
      library.append(words[1])
      libraryPeaks.append(words[2])
    }
    Figure(
      name: "snapshot of 100,000 notes, last chunk read", unit: "ms", ours: median(ours) * 1e3,
      limit: median(raw) * 1e3, aim: .atMost(1.5)
    ).report()
    Figure(name: "– daemon's memory above its start, at most", unit: "KiB", ours: median(peaks)).report()
    Figure(name: "– the same, a client that pauses for a second", unit: "KiB", ours: median(idle)).report()
    Figure(name: "– read with the client library, decoded", unit: "ms", ours: median(library) * 1e3).report()
    Figure(name: "– that client's memory above its start, at most", unit: "KiB", ours: median(libraryPeaks)).report()
    remove(data)
  }

  /// Creates a store with this many notes and stops its daemon properly.
  func filledStore(_ count: Int) throws -> String {
    let data = place("filled")
    let daemon = try Daemon(self, data: data)
    var filler = try StoreFiller(try WireClient(daemon.unix))
    try filler.fill(to: count)
    daemon.stop()
    return data
  }

  /// Reads all notes, requesting a chunk for each one received, without decoding them.
  private func snapshot(_ client: WireClient, pausing seconds: Double) throws {
    let request = try client.send(.fetch(Fetch(entity: client.number(of: "Note"))))
    var (count, pause) = (0, seconds)
    while true {
      let chunk = try Self.contents(of: try client.skip(to: .chunk))
      count += chunk.objects
      if chunk.isLast { break }
      if pause > 0 { usleep(UInt32(pause * 1e6)) }
      pause = 0
      try client.send(.more(of: request))
    }
    guard count == Self.largeStore else { throw BenchmarkError(description: "the snapshot has \(count) notes") }
  }

  /// Skips over a chunk's fields: field 1 is an object, field 2 marks the last chunk.
  private static func contents(of frame: UnsafeRawBufferPointer) throws -> (objects: Int, isLast: Bool) {
    var place = WireClient.bodyStart(frame)
    func varint() -> Int {
      var (value, shift) = (0, 0)
      while place < frame.count {
        let byte = frame[place]
        place += 1
        value |= Int(byte & 0x7F) << shift
        shift += 7
        if byte & 0x80 == 0 { break }
      }
      return value
    }
    _ = (varint(), varint())
    var objects = 0
    while place < frame.count {
      switch varint() {
      case 1 << 3 | 2:
        objects += 1
        let length = varint()
        place += length
      case 2 << 3: return (objects, varint() == 1)
      default: throw BenchmarkError(description: "a chunk has a field that is not known here")
      }
    }
    return (objects, false)
  }

  /// Returns the peak growth of a process while a body runs, in KiB.
  private func peakGrowth(of process: ServerProcess, _ body: () throws -> Void) throws -> Double {
    try process.forgetPeak()
    let before = process.memory("VmRSS")
    try body()
    return process.memory("VmHWM") - before
  }
}
