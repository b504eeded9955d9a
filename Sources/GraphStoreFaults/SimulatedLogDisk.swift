// Tests: RandomLogTests.swift, LogFailureTests.swift, MovedLogTests.swift
import GraphLog
import GraphModel
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A disk in memory for a commit log, for tests and simulations. It can fail, and it can lose power between any two
/// calls.
///
/// A write reaches the cache, a sync copies it to the disk in sectors. After a power cut each sector that was not
/// synced is old, new or torn at any byte, and each change of a name that was not synced has happened or not. A failed
/// sync writes some sectors and drops the others, as Linux does: they count as clean, and a later sync does not write
/// them.
package final class SimulatedLogDisk: LogDisk {
  /// The kinds of operations, by which a fault selects calls.
  package enum Call: String, Sendable {
    case makeFolder, names, create, open, rename, remove, size, read, write, synchronize, synchronizeFolder
  }

  /// The fault of a planned call.
  package enum Fault: Sendable {
    /// The call fails with a system error. A write may have written a part, a sync drops sectors.
    case error(Int32)
    /// The power fails during the call. All later calls fail before `recover`.
    case powerCut
  }

  /// A change of names that is not synced yet.
  private enum NameChange {
    case link(String, Int)
    case rename(String, to: String, Int)
    case unlink(String)
  }

  private struct State {
    var files = [Int: SimulatedContent]()
    var names = [String: Int]()
    var durableNames = [String: Int]()
    var changes = [NameChange]()
    /// Nil if there is no folder.
    var folder: UInt64?
    /// The number of folders created so far.
    var folders: UInt64 = 0
    var isOff = false
    var ignoresSyncs = false
    /// The number of power cuts. Files of an earlier generation can't be used.
    var generation = 0
    var plan: (fault: Fault, calls: Int, kind: Call?)?
    var calls = [String]()
  }

  package let folder: String
  private let state = Mutex(State())
  private let random: @Sendable () -> UInt64

  /// - Parameter random: the source of all decisions.
  package init(folder: String = "log", random: @escaping @Sendable () -> UInt64) {
    (self.folder, self.random) = (folder, random)
  }

  // MARK: Controls of tests

  /// Plans a fault; nil ends the plan.
  /// - Parameters:
  ///   - calls: the number of calls that succeed before it.
  ///   - kind: the kind of calls that count; nil for all.
  package func plan(_ fault: Fault?, after calls: Int = 0, kind: Call? = nil) {
    state.withLock { $0.plan = fault.map { ($0, calls, kind) } }
  }

  /// Lets every sync of a file succeed without effect.
  package func ignoreSyncs() { state.withLock { $0.ignoresSyncs = true } }

  fileprivate var ignoresSyncs: Bool { state.withLock { $0.ignoresSyncs } }

  /// Whether a planned fault has not occurred yet.
  package var hasPlan: Bool { state.withLock { $0.plan != nil } }

  /// Whether the power failed and `recover` was not called afterwards.
  package var isOff: Bool { state.withLock { $0.isOff } }

  /// The calls since the last `takeCalls` that changed or synced something, as `write 0000000001.segment 4096+48`.
  package func takeCalls() -> [String] {
    state.withLock { state in
      defer { state.calls = [] }
      return state.calls
    }
  }

  /// Cuts the power, if it is still on, and restores the content that the disk has kept.
  package func recover() {
    state.withLock { state in
      for change in state.changes where random() % 2 == 0 { Self.apply(change, &state.durableNames) }
      (state.names, state.changes) = (state.durableNames, [])
      let linked = Set(state.names.values)
      state.files = state.files.filter { linked.contains($0.key) }
      for number in linked { state.files[number]?.loseCache(random) }
      (state.isOff, state.plan) = (false, nil)
      state.generation += 1
    }
  }

  /// A copy of the disk as another process finds it after a kill: all that was written, synced or not.
  package func copy() -> SimulatedLogDisk {
    let copy = SimulatedLogDisk(folder: folder, random: random)
    var found = state.withLock { $0 }
    (found.plan, found.calls) = (nil, [])
    copy.state.withLock { $0 = found }
    return copy
  }

  /// Changes a file on the disk and in the cache, as another program does.
  package func edit(_ name: String, _ body: (inout [UInt8]) -> Void) {
    state.withLock { state in
      guard let number = state.names[name], var file = state.files[number] else {
        preconditionFailure("a test edits a file that exists")
      }
      body(&file.cached)
      (file.durable, file.dirty) = (file.cached, [])
      state.files[number] = file
    }
  }

  /// Replaces a file by a copy of it, durably, as another program does. The log's open file has no name then.
  package func replace(_ name: String) {
    state.withLock { state in
      guard let number = state.names[name], let file = state.files[number] else {
        preconditionFailure("a test replaces a file that exists")
      }
      let copy = Self.freeNumber(state)
      state.files[copy] = file
      for (place, known) in state.names where known == number { state.names[place] = copy }
      (state.durableNames, state.changes) = (state.names, [])
    }
  }

  /// Removes the folder with all names, durably, as another program does. Open files can still be written.
  package func removeFolder() {
    state.withLock { state in
      (state.folder, state.names, state.durableNames, state.changes) = (nil, [:], [:], [])
    }
  }

  /// The cached contents of all files, by name; nil if there is no folder.
  package var contents: [String: [UInt8]]? {
    state.withLock { state in
      if state.folder == nil { return nil }
      return state.names.compactMapValues { state.files[$0]?.cached }
    }
  }

  /// The cached content of a file.
  package func content(_ name: String) -> [UInt8] {
    var content = [UInt8]()
    edit(name) { content = $0 }
    return content
  }

  // MARK: LogDisk

  package func makeFolder() throws {
    try perform(.makeFolder, "") { state, _ in
      guard state.folder == nil else { return }
      state.folders += 1
      state.folder = state.folders
    }
  }

  package func folderIdentity() -> FileIdentity? {
    state.withLock { state in state.folder.map { FileIdentity(device: 0, number: $0) } }
  }

  package func identity(of name: String) -> FileIdentity? {
    state.withLock { state in state.names[name].map(Self.identity) }
  }

  fileprivate static func identity(_ number: Int) -> FileIdentity { FileIdentity(device: 1, number: UInt64(number)) }

  private static func freeNumber(_ state: State) -> Int { (state.files.keys.max() ?? 0) + 1 }

  package func names() throws -> [String]? {
    try perform(.names, "") { state, _ in state.folder == nil ? nil : Array(state.names.keys) }
  }

  package func create(_ name: String) throws -> any LogFile {
    try perform(.create, name) { state, _ in
      guard state.folder != nil else { throw Self.failure(.create, name, ENOENT) }
      precondition(state.names[name] == nil, "a log creates a file only under a new name")
      let number = Self.freeNumber(state)
      state.files[number] = SimulatedContent()
      Self.change(.link(name, number), &state)
      return SimulatedLogFile(self, name, number, state.generation)
    }
  }

  package func open(_ name: String, forWriting: Bool) throws -> any LogFile {
    try perform(.open, name) { state, _ in
      guard let number = state.names[name] else { throw Self.failure(.open, name, ENOENT) }
      return SimulatedLogFile(self, name, number, state.generation)
    }
  }

  package func rename(_ name: String, to newName: String) throws {
    try perform(.rename, "\(name) \(newName)") { state, _ in
      guard let number = state.names[name] else { throw Self.failure(.rename, name, ENOENT) }
      Self.change(.rename(name, to: newName, number), &state)
    }
  }

  package func remove(_ name: String) throws {
    try perform(.remove, name) { state, _ in Self.change(.unlink(name), &state) }
  }

  package func synchronizeFolder() throws {
    try perform(.synchronizeFolder, "") { state, error in
      guard error == nil else { return }
      (state.durableNames, state.changes) = (state.names, [])
    }
  }

  // MARK: Calls

  /// Runs a call, or the planned fault in its place.
  /// - Parameter body: the effect of the call, or a part of it if the call fails. Its second argument is the error.
  private func perform<Result>(
    _ call: Call, _ detail: String, _ body: (inout State, _ error: Int32?) throws -> Result
  ) throws -> Result {
    try state.withLock { state in
      guard !state.isOff else { throw Self.failure(call, detail, EIO) }
      if ![.names, .open, .size, .read].contains(call) {
        state.calls.append(detail.isEmpty ? call.rawValue : "\(call.rawValue) \(detail)")
      }
      guard let fault = Self.dueFault(call, &state) else { return try body(&state, nil) }
      switch fault {
      case .error(let code):
        if call == .write || call == .synchronize || call == .synchronizeFolder { _ = try body(&state, code) }
        throw Self.failure(call, detail, code)
      case .powerCut:
        if call != .synchronize, call != .synchronizeFolder, random() % 2 == 0 { _ = try body(&state, nil) }
        state.isOff = true
        throw Self.failure(call, detail, EIO)
      }
    }
  }

  private static func dueFault(_ call: Call, _ state: inout State) -> Fault? {
    guard let plan = state.plan, plan.kind == nil || plan.kind == call else { return nil }
    state.plan = plan.calls > 0 ? (plan.fault, plan.calls - 1, plan.kind) : nil
    return plan.calls > 0 ? nil : plan.fault
  }

  private static func failure(_ call: Call, _ detail: String, _ code: Int32) -> StoreFailure {
    StoreFailure.system("the simulated disk can't \(call.rawValue) \(detail)", code)
  }

  private static func change(_ change: NameChange, _ state: inout State) {
    apply(change, &state.names)
    state.changes.append(change)
  }

  private static func apply(_ change: NameChange, _ names: inout [String: Int]) {
    switch change {
    case .link(let name, let number): names[name] = number
    case .rename(let name, let newName, let number):
      if names[name] == number { names[name] = nil }
      names[newName] = number
    case .unlink(let name): names[name] = nil
    }
  }

  fileprivate func access<Result>(
    _ call: Call, _ file: SimulatedLogFile, _ detail: String = "",
    _ body: (inout SimulatedContent, _ error: Int32?) -> Result
  ) throws -> Result {
    try perform(call, file.name + detail) { state, error in
      guard file.generation == state.generation, let place = state.files.index(forKey: file.number) else {
        throw Self.failure(call, file.name, EIO)
      }
      return body(&state.files.values[place], error)
    }
  }

  fileprivate func draw(below bound: Int) -> Int { Int(random() % UInt64(max(1, bound))) }
}

private final class SimulatedLogFile: LogFile {
  let disk: SimulatedLogDisk
  let name: String
  let number: Int
  let generation: Int

  init(_ disk: SimulatedLogDisk, _ name: String, _ number: Int, _ generation: Int) {
    (self.disk, self.name, self.number, self.generation) = (disk, name, number, generation)
  }

  func identity() throws -> FileIdentity { SimulatedLogDisk.identity(number) }

  func size() throws -> Int { try disk.access(.size, self) { content, _ in content.cached.count } }

  func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    try disk.access(.read, self) { content, _ in
      let part = content.cached.dropFirst(offset).prefix(buffer.count)
      buffer.copyBytes(from: part)
      return part.count
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws {
    try disk.access(.write, self, " \(offset)+\(bytes.count)") { content, error in
      let written = error == nil ? bytes.count : disk.draw(below: bytes.count + 1)
      content.write(UnsafeRawBufferPointer(rebasing: bytes[..<written]), at: offset)
    }
  }

  func synchronize() throws {
    if disk.ignoresSyncs { return }
    try disk.access(.synchronize, self) { content, error in
      if error == nil { content.synchronize() } else { content.dropDirtySectors { disk.draw(below: 3) } }
    }
  }
}
