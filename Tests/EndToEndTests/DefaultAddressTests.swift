import Foundation
import GraphModel
import GraphTesting
import GraphWire
import Testing

/// A daemon without addresses, and the clients of its user. One after the other, because all use the default port.
@Suite(.serialized) struct DefaultAddressTests {
  /// A home of its own, which counts as another user's.
  private final class User {
    let home: TemporaryDirectory
    private var process: Process?
    private var errors = Pipe()

    init() throws { home = try TemporaryDirectory() }

    private func process(_ program: String, _ arguments: [String], _ variables: [String: String]) -> Process {
      let process = Process()
      process.executableURL = Daemon.binary(program)
      process.arguments = arguments
      process.environment = ProcessInfo.processInfo.environment
        .filter { !$0.key.hasPrefix("STICKIES") && !$0.key.hasPrefix("XDG_") }
        .merging(["HOME": home.path]) { $1 }.merging(variables) { $1 }
      process.standardInput = FileHandle.nullDevice
      return process
    }

    /// - Returns: where it listens.
    func start(_ variables: [String: String] = [:]) throws -> [String] {
      let process = process("stickiesd", [], variables)
      let output = Pipe()
      process.standardOutput = output
      errors = Pipe()
      process.standardError = errors
      try process.run()
      self.process = process
      // All lines come in one write.
      let text = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
      return text.split(separator: "\n").map { String($0.dropFirst("listening ".count)) }
    }

    /// - Returns: what it has logged.
    func stop() -> String {
      process?.terminate()
      process?.waitUntilExit()
      #expect(process?.terminationStatus == 0)
      return String(decoding: errors.fileHandleForReading.availableData, as: UTF8.self)
    }

    func stickies(_ arguments: [String], _ variables: [String: String] = [:]) throws -> Daemon.Result {
      try process("stickies", arguments, variables).result()
    }

    func stickiesd(_ arguments: [String], _ variables: [String: String] = [:]) throws -> Daemon.Result {
      try process("stickiesd", arguments, variables).result()
    }

    deinit { if let process, process.isRunning { kill(process.processIdentifier, SIGKILL) } }
  }

  @Test func clientFindsDaemonWithAndWithoutRuntimeDirectory() throws {
    let user = try User()
    let runtime = ["XDG_RUNTIME_DIR": user.home.path + "/run"]
    let environments = [[:], runtime, ["XDG_DATA_HOME": user.home.path + "/data"]]
    for daemon in environments {
      #expect(try user.start(daemon).contains { $0.hasPrefix("unix://\(user.home.path)/") })
      for client in environments {
        let result = try user.stickies(["add", "x"], client)
        #expect(result.status == 0, "\(daemon), \(client): \(result.errors)")
      }
      _ = user.stop()
    }
    let nobody = try user.stickies(["list"], runtime)
    #expect(nobody.status == 69)
    #expect(
      nobody.errors
        == "stickies: no stickiesd answers at unix://\(user.home.path)/run/stickies/socket; start one with: stickiesd\n"
    )
  }

  @Test func secondDaemonWithDefaultsServesOnlyItsSocket() throws {
    let (ann, bob) = (try User(), try User())
    _ = try ann.start()
    let listening = try bob.start()
    #expect(listening.count { $0.hasPrefix("unix://\(bob.home.path)/") } == 1)
    #expect(!listening.contains { $0.hasPrefix("tcp://") })
    #expect(try bob.stickies(["add", "x"]).status == 0)
    #expect(try ann.stickies(["list", "--json"]).output == "[]\n")
    let explicit = try bob.stickiesd(["--data", bob.home.path + "/other", "--listen", "tcp://127.0.0.1:7417"])
    #expect(explicit.status == 1)
    #expect(explicit.errors.contains("the address tcp://127.0.0.1:7417 is in use (Address already in use)"))
    let log = bob.stop()
    #expect(log.contains("notice") && log.contains("an address is not served"), "\(log)")
    _ = ann.stop()
  }

  @Test func daemonWithoutSocketIsReportedWithItsProcess() throws {
    let daemon = try Daemon()
    try daemon.start()
    let process = daemon.process.processIdentifier
    // The stopped daemon can't create the socket again.
    kill(process, SIGSTOP)
    try FileManager.default.removeItem(atPath: daemon.home.path + "/socket")
    // A daemon that the user runs in the default place would be found first.
    let place = ["XDG_DATA_HOME": daemon.home.path]
    let list = try daemon.run("list", environment: place)
    let doctor = try daemon.run("doctor", environment: place)
    kill(process, SIGCONT)
    #expect(list.status == 69)
    #expect(list.errors.contains("process \(process) (\"stickiesd --data"), "\(list.errors)")
    #expect(list.errors.contains("end it with kill \(process)"))
    #expect(doctor.status == 69)
    // Or the address of a daemon that the user runs in the default place.
    #expect(
      doctor.output.contains("process \(process)") || doctor.output.contains("a socket answers at"), "\(doctor.output)")
    // The daemon checks its files within two seconds after it continues.
    let deadline = ContinuousClock.now + .seconds(20)
    while try daemon.run("list").status != 0, ContinuousClock.now < deadline {}
    #expect(try daemon.run("list").status == 0)
    #expect(daemon.stop() == 0)
  }

  @Test func duplicateAndUnknownAddressesAreReported() throws {
    let user = try User()
    let address = "unix://\(user.home.path)/s"
    let twice = try user.stickiesd(["--listen", address, "--listen", address])
    #expect(twice.status == 64)
    #expect(twice.errors == "stickiesd: the address \(address) is given twice; name each address to listen on once\n")
    for other in ["unix://\(user.home.path)//s", "unix://\(user.home.path)/./s"] {
      let same = try user.stickiesd(["--listen", address, "--listen", other])
      #expect(same.status == 64)
      #expect(same.errors == "stickiesd: the address \(other) is given twice; name each address to listen on once\n")
    }
    for option in ["--http", "--metrics"] {
      let both = try user.stickiesd(["--listen", "tcp://127.0.0.1:7499", option, "127.0.0.1:7499"])
      #expect(both.status == 64 && both.errors.contains("the port 7499 of \(option) is given twice"), "\(both.errors)")
    }
    // Two addresses of one port, which is unused: the system chose it for a daemon that has ended.
    let other = try Daemon()
    try other.start()
    let port = try #require(other.tcp.split(separator: ":").last)
    #expect(other.stop() == 0)
    let named = try user.stickiesd([
      "--insecure", "--listen", "tcp://127.0.0.1:\(port)", "--listen", "tcp://0.0.0.0:\(port)",
    ])
    #expect(named.status == 1)
    #expect(named.errors.contains("(this daemon listens on tcp://127.0.0.1:\(port))"), "\(named.errors)")
    let unknown = try user.stickiesd(["--listen", "tcp://nobody.invalid:7417", "--insecure"])
    #expect(unknown.status == 1)
    #expect(unknown.errors.contains("there is no host of that name"), "\(unknown.errors)")
    let client = try user.stickies(["list", "--insecure", "--server", "tcp://nobody.invalid:7417"])
    #expect(client.status == 69)
    #expect(client.errors.contains("there is no host nobody.invalid"), "\(client.errors)")
  }

  @Test func addressesWhereNoDaemonCanListenAreReported() throws {
    let user = try User()
    let (dangling, loop) = (user.home.path + "/dangling", user.home.path + "/loop")
    for (link, target) in [(dangling, user.home.path + "/missing"), (loop, loop)] {
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
      let daemon = try user.stickiesd(["--listen", "unix://\(link)"])
      #expect(daemon.status != 0 && daemon.errors.contains("\(link) is a link to nothing"), "\(daemon.errors)")
    }
    for (address, reason) in [
      ("tcp://127.0.0.1:0", "with port 0 stickiesd chooses a port"),
      ("unix://\(user.home.path)", "\(user.home.path) is a folder, not a socket; give another address"),
      ("unix://\(dangling)", "\(dangling) is a link to nothing; remove it, or give another address"),
      ("unix://\(loop)", "\(loop) is a link to nothing; remove it, or give another address"),
    ] {
      let client = try user.stickies(["list", "--server", address])
      #expect(client.status == 69)
      #expect(client.errors.contains("no stickiesd answers at \(address): \(reason)"), "\(client.errors)")
    }
  }
}
