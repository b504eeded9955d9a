import TerminalCells

/// Which application a program is, by names: so a settings file can choose another class or another interface.
public struct ApplicationConfiguration: Hashable, Sendable {
  /// The application's class.
  public var applicationName: String
  /// Menu bar and windows.
  public var interfaceName: String
  /// How many keys wait at most.
  public var queueCapacity: Int

  /// A configuration of names that a launcher knows.
  public init(application: String, interface: String, queueCapacity: Int = 1_024) {
    applicationName = application
    interfaceName = interface
    self.queueCapacity = queueCapacity
  }
}

/// Menu bar and windows of an application, as they are when it starts.
public struct MainInterface {
  /// Every command with its key.
  public var menuBar: Menu
  /// From the lowest to the highest.
  public var windows: [Window]

  /// An interface.
  public init(menuBar: Menu, windows: [Window]) {
    self.menuBar = menuBar
    self.windows = windows
  }
}

/// What a launcher hands an application to begin with; nobody else can make one.
public struct ApplicationSeed {
  let screenSize: Size
  let queueCapacity: Int
  let interface: (Application) throws -> MainInterface
}

/// Why an application does not start.
public enum ApplicationError: Error, Hashable, CustomStringConvertible {
  /// There is one already.
  case secondApplication(running: String)
  /// No class is registered under the name.
  case unknownApplication(String, known: [String])
  /// No interface is registered under the name.
  case unknownInterface(String, known: [String])
  /// What is wrong with the menu bar.
  case menu([String])

  public var description: String {
    switch self {
    case .secondApplication(let running):
      "the application '\(running)' runs already; a program has one"
    case .unknownApplication(let name, let known):
      "no application is called '\(name)'; there are \(known.joined(separator: ", "))"
    case .unknownInterface(let name, let known):
      "no interface is called '\(name)'; there are \(known.joined(separator: ", "))"
    case .menu(let problems): problems.joined(separator: "\n")
    }
  }
}

/// Makes the application that a configuration names; a program has one launcher, and a launcher one application, for as
/// long as that has not ended.
public final class ApplicationLauncher {
  private var applications = [String: Application.Type]()
  private var interfaces = [String: (Application) throws -> MainInterface]()
  /// The application that runs; the launcher keeps it until it has ended.
  public private(set) var application: Application?
  private var runningName = ""

  /// A launcher that knows no names.
  public init() {}

  /// Makes a class known under a name.
  public func register(application: Application.Type, as name: String) { applications[name] = application }

  /// Makes an interface known under a name. It is made when the application finishes launching.
  public func register(interface name: String, make: @escaping (Application) throws -> MainInterface) {
    interfaces[name] = make
  }

  /// Makes the application, not yet launched: give it a delegate, then call `finishLaunching`.
  /// - Throws: `ApplicationError` when a name is not known, or an application is there that has not ended.
  public func launch(_ configuration: ApplicationConfiguration, screenSize: Size) throws -> Application {
    if let application, !application.hasEnded { throw ApplicationError.secondApplication(running: runningName) }
    let name = configuration.applicationName
    guard let type = applications[name] else {
      throw ApplicationError.unknownApplication(name, known: applications.keys.sorted())
    }
    guard let interface = interfaces[configuration.interfaceName] else {
      throw ApplicationError.unknownInterface(configuration.interfaceName, known: interfaces.keys.sorted())
    }
    let made = type.init(
      ApplicationSeed(screenSize: screenSize, queueCapacity: configuration.queueCapacity, interface: interface))
    (application, runningName) = (made, name)
    return made
  }
}
