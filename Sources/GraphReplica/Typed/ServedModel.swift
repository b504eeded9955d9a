// Tests: ClientLifetimeTests.swift
import GraphModel

/// A generated model, with everything that a program needs to connect to a server of the model. graph-generate writes
/// `CompanyModel: ServedModel`, and GraphClient adds `CompanyModel.connect(to:)`.
public protocol ServedModel {
  /// The model that the program was built with.
  static var model: Model { get }
  /// The classes of the model's entities.
  static var classes: [ManagedObject.Type] { get }
}
