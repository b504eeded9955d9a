import ArgumentParser
import GraphClient
import GraphModel
import GraphShell
import GraphWire
import StickiesKit
import StickiesModel

/// `stickies doctor`: checks for common problems and advises how to fix them.
struct Doctor: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Find problems of the connection, the daemon and this machine, and print remedies.",
    discussion: """
      Checks the address, the daemon and its version and model, the disk, the clocks and the terminal. Exit codes: 0 \
      no problem, 1 a problem, 69 no daemon answers. Warnings are not problems.
      """)

  /// The timeout for answers of the daemon, in milliseconds.
  static let maximumDelayMilliseconds: Int64 = 3_000

  @OptionGroup var options: CommonOptions

  @MainActor
  func run() async throws {
    var findings = [CheckResult]()
    var hasDaemon = false
    do {
      let address = try ServerAddressChoice(options)
      findings.append(CheckResult("address", .fine, "\(address.address), \(address.origin)"))
      let (found, location) = await daemon(address)
      findings += found
      hasDaemon = !found.contains { $0.state == .problem && $0.check == "daemon" }
      // Without a daemon, checks the disk that a new one would use.
      let folder = location ?? (address.isHere && !hasDaemon ? ProcessEnvironment.current.dataDirectory : nil)
      if let folder { findings.append(DiskCheck.finding(folder)) }
    } catch {
      findings.append(
        CheckResult(
          "address", .problem, Self.sentence(error),
          mend: "write it as \(ServerAddress.forms) in --server or STICKIES_SERVER"))
    }
    findings += TerminalCheck.findings()
    show(findings)
    let problems = findings.filter { $0.state == .problem }
    if problems.isEmpty { return }
    throw ExitCode(!hasDaemon && problems.contains { $0.check == "daemon" } ? CommandFailure.noDaemon : 1)
  }

  private static func sentence(_ error: any Error) -> String {
    if let refusal = error as? Refusal { refusal.message } else { "\(error)" }
  }

  // MARK: - The daemon

  /// A client as the result of a task: it stays on the main actor.
  @MainActor
  private struct Connection {
    let client: GraphClient
  }

  /// Checks the daemon.
  /// - Returns: the findings, and the daemon's data directory if it is on this machine.
  @MainActor
  private func daemon(_ choice: ServerAddressChoice) async -> ([CheckResult], location: String?) {
    let address = choice.address
    if let refused = ConnectionProbe.connect(to: address) { return ([await choice.noDaemon(refused)], nil) }
    let client: GraphClient
    do {
      client = try await options.connecting { security in
        try await TimeLimit.run(milliseconds: Self.maximumDelayMilliseconds, late: { WelcomeTimeout() }) {
          let client = try await Stickies.connectToAnyModel(
            at: address, program: "stickies doctor", reconnects: false, security: security)
          return Connection(client: client)
        }
      }.client
    } catch let failure as SecurityFailure {
      let mend = failure.key.map { "if its operator confirms the key, trust it with --pin \($0)" }
      return ([CheckResult("encryption", .problem, failure.message, mend: mend)], nil)
    } catch let refusal as Refusal where refusal.code == .notAllowed {
      return ([CheckResult("version", .problem, refusal.message, mend: Self.sameVersion)], nil)
    } catch {
      let greeting = ConnectionProbe.greeting(of: address)
      if error is WelcomeTimeout, greeting == nil {
        if choice.isHere,
          let process = DaemonProcess.find(for: address, data: ProcessEnvironment.current.dataDirectory)
        {
          let (message, mend) = process.explanation(address)
          return ([CheckResult("daemon", .problem, message, mend: mend)], nil)
        }
        return (
          [
            CheckResult(
              "daemon", .problem, "the program at \(address) accepts connections but does not answer",
              mend: "if it is a stickiesd, it hangs or is suspended: look at the process, resume it or start it again")
          ], nil
        )
      }
      let who = if let greeting { greeting } else { "a program other than stickiesd" }
      return (
        [
          CheckResult(
            "daemon", .problem, "\(who) listens there: \(Self.sentence(error))",
            mend:
              "start stickiesd with --listen and a free address, and give that address in --server or STICKIES_SERVER")
        ], nil
      )
    }
    let findings = await findings(client, isHere: choice.isHere)
    await client.close()
    return findings
  }

  /// The connection was accepted, but no welcome arrived in time.
  private struct WelcomeTimeout: Error, CustomStringConvertible {
    var description: String { "it accepts connections but does not answer" }
  }

  private static let sameVersion = "install stickies and stickiesd of the same version, and start the daemon again"

  @MainActor
  private func findings(_ client: GraphClient, isHere: Bool) async -> ([CheckResult], location: String?) {
    var findings = [CheckResult]()
    guard let server = client.welcome?.server else { preconditionFailure("a client that connected was welcomed") }
    let version = server.split(separator: " ").last.map(String.init)
    findings.append(CheckResult("daemon", .fine, "\(server) answers"))
    findings.append(Self.transport(client))
    findings.append(
      version == Stickies.version
        ? CheckResult("version", .fine, "stickies and stickiesd are \(Stickies.version)")
        : CheckResult(
          "version", .warning, "this is stickies \(Stickies.version), the daemon is \(server)", mend: Self.sameVersion))
    findings.append(await model(client.context.model, of: client))
    let answers = try? await TimeLimit.run(
      milliseconds: Self.maximumDelayMilliseconds, late: { ExitCode.failure },
      { (status: try await client.status(), newest: try await client.log(limit: 1, changes: 0).first?.time) })
    guard let (status, newest) = answers else {
      findings.append(
        CheckResult(
          "store", .problem, "the daemon does not answer questions about its store",
          mend: "look into its log, and start it again"))
      return (findings, nil)
    }
    // The daemon withholds size and place from users with a role.
    let place = status.location.isEmpty ? "" : ", \(status.size) bytes in \(status.location)"
    findings.append(CheckResult("store", .fine, "revision \(status.head.revision)\(place)"))
    for exposure in status.exposures { findings.append(CheckResult("network", .warning, exposure)) }
    if !status.failure.isEmpty {
      findings.append(CheckResult("commits", .problem, "commits are refused: \(status.failure)"))
    }
    findings.append(ClockCheck.finding(newest: newest))
    // On another machine, the path may name another folder here.
    return (findings, isHere && status.location.hasPrefix("/") ? status.location : nil)
  }

  @MainActor
  private static func transport(_ client: GraphClient) -> CheckResult {
    if client.address.isUnprotected {
      return CheckResult(
        "encryption", .warning, "the connection to another machine is not encrypted",
        mend: "let the daemon listen on tls://, and give that address in --server or STICKIES_SERVER")
    }
    return CheckResult("encryption", .fine, TransportDescription.text(client))
  }

  @MainActor
  private func model(_ served: Model, of connected: GraphClient) async -> CheckResult {
    let ours = StickiesModel.model
    if served.hash == ours.hash { return CheckResult("model", .fine, "\(served.name) \(served.version)") }
    guard served.name == ours.name else {
      return CheckResult(
        "model", .warning, "the daemon serves \(served.name) \(served.version), which has no notes",
        mend: "use stickies graph, or give another daemon's address with --server")
    }
    let mend = served.version < ours.version ? "stop the daemon and run stickiesd migrate" : Self.sameVersion
    do {
      // A daemon with a newer model may still serve older programs.
      let (address, options) = (connected.address, connected.options(author: "doctor"))
      try await TimeLimit.run(milliseconds: Self.maximumDelayMilliseconds, late: { WelcomeTimeout() }) {
        await (try await GraphClient.connect(to: address, model: ours, options: options)).close()
      }
      return CheckResult(
        "model", .warning,
        "the daemon serves version \(served.version) of the notes' model, this program has \(ours.version)", mend: mend)
    } catch {
      let isOther = served.version == ours.version
      return CheckResult(
        "model", .problem,
        isOther
          ? "the daemon serves another version \(served.version) of the notes' model than this program has"
          : "the daemon serves version \(served.version) of the notes' model and refuses version \(ours.version)",
        mend: isOther
          ? "use stickies graph, which works with any model, or start a stickiesd without that --schema" : mend)
    }
  }

  // MARK: - Output

  @MainActor
  private func show(_ findings: [CheckResult]) {
    let output = Output(json: options.json, ansi: options.ansi, model: StickiesModel.model, program: StickiesProgram())
    let problems = findings.count { $0.state == .problem }
    if options.json {
      return output.print(
        JSON.object([
          .init("problems", .integer(Int64(problems))), .init("findings", .array(findings.map(\.json))),
        ]))
    }
    for finding in findings {
      output.print(finding.line)
      if let mend = finding.mend { output.print(CheckResult.indent + "→ " + TextTable.visible(mend)) }
    }
    output.print(problems == 0 ? "no problem found" : Output.count(problems, "problem"))
  }
}

/// The result of one check.
struct CheckResult {
  enum State: String { case fine, warning, problem }

  let check: String
  let state: State
  let message: String
  /// The advice, in one sentence.
  var mend: String?

  init(_ check: String, _ state: State, _ message: String, mend: String? = nil) {
    (self.check, self.state, self.message, self.mend) = (check, state, message, mend)
  }

  static let indent = String(repeating: " ", count: 20)

  var line: String {
    func padded(_ text: String, _ width: Int) -> String { text.padding(to: width) }
    return padded(state.rawValue, 9) + padded(check, 11) + TextTable.visible(message)
  }

  var json: JSON {
    var members = [
      JSON.Member("check", .string(check)), JSON.Member("state", .string(state.rawValue)),
      JSON.Member("message", .string(message)),
    ]
    if let mend { members.append(.init("mend", .string(mend))) }
    return .object(members)
  }
}

extension String {
  fileprivate func padding(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
