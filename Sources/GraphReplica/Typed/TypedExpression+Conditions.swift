// Tests: TypedPredicateTests.swift
import GraphModel

/// An attribute that is true or false is a condition by itself: `{ $0.pinned && $0.number > 3 }`, `{ !$0.pinned }`.
///
/// The operators have an overload for each side, and not one over a protocol of conditions: with it the compiler would
/// look for the types of both operands without a hint, and a long condition would take it seconds.
extension TypedExpression where Kind == Bool {
  /// `== true`, for `where: \.active.isTrue`.
  public var isTrue: TypedPredicate { comparing(.equal, true) }

  /// Not true: false or null.
  public static prefix func ! (attribute: Self) -> TypedPredicate { !attribute.isTrue }

  /// The attribute is true, and the condition holds.
  public static func && (left: Self, right: TypedPredicate) -> TypedPredicate { left.isTrue && right }

  /// The condition holds, and the attribute is true.
  public static func && (left: TypedPredicate, right: Self) -> TypedPredicate { left && right.isTrue }

  /// Both attributes are true.
  public static func && <Other>(left: Self, right: TypedExpression<Bool, Other>) -> TypedPredicate {
    left.isTrue && right.isTrue
  }

  /// The attribute is true, or the condition holds.
  public static func || (left: Self, right: TypedPredicate) -> TypedPredicate { left.isTrue || right }

  /// The condition holds, or the attribute is true.
  public static func || (left: TypedPredicate, right: Self) -> TypedPredicate { left || right.isTrue }

  /// At least one of the attributes is true.
  public static func || <Other>(left: Self, right: TypedExpression<Bool, Other>) -> TypedPredicate {
    left.isTrue || right.isTrue
  }
}

extension TypedExpression where Kind == Bool, Cardinality == ExactlyOne {
  /// `== false`, which an index serves.
  public static prefix func ! (attribute: Self) -> TypedPredicate { attribute == false }
}

extension ToManyPath where Cardinality: SingleCardinality {
  /// At least one member has an attribute that is true: `$0.members.contains { $0.remote }`.
  public func contains<Single: SingleCardinality>(
    where attribute: @escaping (ObjectPath<Object, ExactlyOne>) -> TypedExpression<Bool, Single>
  ) -> TypedPredicate { contains { attribute($0).isTrue } }

  /// The number of members with an attribute that is true.
  public func count<Single: SingleCardinality>(
    where attribute: @escaping (ObjectPath<Object, ExactlyOne>) -> TypedExpression<Bool, Single>
  ) -> TypedExpression<Int64, CalculatedValue> { count { attribute($0).isTrue } }
}
