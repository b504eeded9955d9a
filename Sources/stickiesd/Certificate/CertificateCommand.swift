import ArgumentParser
import Foundation
import GraphModel
import GraphServer
import StickiesModel

/// `stickiesd certificate`: creates the key and the certificate of a daemon without an authority.
struct CertificateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "certificate",
    abstract: "Create a private key and a self-signed certificate for tls:// addresses, or show the key's hash.",
    discussion: """
      Prints the hash of the key, which clients give to --pin. A running daemon uses the new files within two seconds. \
      Existing files are kept unless --replace is given, because clients that trust the former key refuse another one.
      """)

  @OptionGroup var store: StoreFlags

  @Option(
    help: ArgumentHelp(
      "A host name or IP address of this server, may be repeated; default: the name of this machine and localhost.",
      valueName: "host"))
  var name: [String] = []

  @Option(help: ArgumentHelp("The validity in days, 1 to 36500.", valueName: "days"))
  var days = 3_650

  @OptionGroup var files: CertificateFileFlags

  @Flag(help: "Replace existing files by a new key and its certificate.")
  var replace = false

  @Flag(help: "Only print the hash of the key of the existing certificate.")
  var show = false

  @Flag(help: "Print the result as one line of JSON.")
  var json = false

  mutating func run() async throws {
    umask(0o077)
    try await StoreCommand.reportingFailures(json: json) {
      let settings = try await store.settings(files: files)
      let (certificate, key) = (settings.network.certificate, settings.network.key)
      if show {
        return print(
          try ServerCertificate(certificate: certificate, key: key).keyHash.description, [], certificate, key, nil)
      }
      guard (1...36_500).contains(days) else {
        throw OptionsError(description: "--days: \(days); it must be a number of days, 1 to 36500")
      }
      if !replace { try refuseExisting([certificate, key]) }
      let names = try (name.isEmpty ? Self.defaultNames : name).map { text in
        guard let name = HostName(text) else {
          throw OptionsError(description: "--name: \"\(text)\"; it must be \(HostName.expected)")
        }
        return name
      }
      // The validity begins an hour ago, for clients whose clocks are slow.
      let begin = Int64(Date().timeIntervalSince1970 - 3_600) * RFC3339.microsecondsPerSecond
      let created = try SelfSignedCertificate(names: names, begin: begin, days: days)
      try write(created.key, to: key)
      try write(created.certificate, to: certificate)
      print(created.keyHash.description, names.map(\.text), certificate, key, created.end)
    }
  }

  private func refuseExisting(_ paths: [String]) throws(StoreFailure) {
    if let path = paths.first(where: { PrivateFile(path: $0).exists }) {
      throw StoreFailure(
        .alreadyThere, "\(path) already exists",
        advice: "Give --show to print the hash of its key, or --replace to create another key, which clients must then "
          + "trust again.")
    }
  }

  private func write(_ text: String, to path: String) throws(StoreFailure) {
    do {
      try PrivateFile(path: path).write(text)
    } catch {
      throw StoreFailure(
        .inputOutput, "\(error.path) can't be written", cause: error.cause,
        advice: "Give other paths with --certificate and --key.")
    }
  }

  private static var defaultNames: [String] {
    let host = ProcessInfo.processInfo.hostName
    return HostName(host) == nil || host == "localhost" ? ["localhost"] : [host, "localhost"]
  }

  private func print(_ hash: String, _ names: [String], _ certificate: String, _ key: String, _ end: Timestamp?) {
    let until = end.map(RFC3339.text)
    if json {
      var members = [
        JSON.Member("pin", .string(hash)), .init("certificate", .string(certificate)), .init("key", .string(key)),
      ]
      if !names.isEmpty { members.append(.init("names", .array(names.map(JSON.string)))) }
      if let until { members.append(.init("validUntil", .string(until))) }
      return Console.print(JSON.object(members).text)
    }
    if show { return Console.print(hash) }
    Console.printLine("certificate    \(certificate)")
    Console.printLine("private key    \(key)")
    Console.printLine("names          \(names.joined(separator: ", "))")
    if let until { Console.print("valid until    \(until)") }
    Console.print("pin            \(hash)")
  }
}
