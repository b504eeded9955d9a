import ArgumentParser
import Configuration

/// The options for addresses that other machines reach.
struct NetworkFlags: ParsableArguments {
  @OptionGroup var files: CertificateFileFlags

  @Flag(
    help: "Listen on addresses that other machines reach even without encryption (tcp://) or accounts (tls://).")
  var insecure = false
}

/// The flags that name the files of a certificate.
struct CertificateFileFlags: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The certificate for tls:// addresses, a file in PEM; default: certificate.pem in the data directory.",
      valueName: "file"))
  var certificate: String?

  @Option(
    help: ArgumentHelp(
      "Its private key, a file in PEM that only this user may read; default: key.pem in the data directory.",
      valueName: "file"))
  var key: String?
}

/// The settings for addresses that other machines reach.
struct NetworkSettings {
  let certificate: String
  let key: String
  /// Whether such addresses are served without encryption or without accounts.
  let isInsecure: Bool

  /// Combines flags, environment and file.
  /// - Parameters:
  ///   - files: the flags for the files; nil for a command without them.
  ///   - data: the data directory, in which the default files are.
  init(_ files: CertificateFileFlags?, isInsecure: Bool, _ reader: ConfigReader, data: String) throws {
    certificate = files?.certificate ?? reader.string(forKey: "certificate") ?? data + "/certificate.pem"
    key = files?.key ?? reader.string(forKey: "key") ?? data + "/key.pem"
    self.isInsecure = try isInsecure || Self.isInsecure(reader)
  }

  private static func isInsecure(_ reader: ConfigReader) throws -> Bool {
    switch reader.string(forKey: "insecure") {
    case nil, "false": return false
    case "true": return true
    case let text?: throw OptionsError(description: "STICKIESD_INSECURE: \"\(text)\"; it must be true or false")
    }
  }
}
