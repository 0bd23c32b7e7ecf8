//! The outcome of a question to the user.

/// The answer of a user: given, declined, or neither.
///
/// A refusal is an answer too. It is kept like other answers, so the user is not asked the same question again.
///
/// ```
/// use trueform::Asked;
///
/// assert_eq!(Asked::Accepted(4).accepted(), Some(4));
/// assert!(Asked::<u8>::Declined.accepted().is_none());
/// assert_eq!(Asked::Accepted(4).map(|people| people + 1), Asked::Accepted(5));
/// assert!(Asked::<u8>::Cancelled.is_refused());
/// ```
// R-7
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use = "the user may have declined"]
pub enum Asked<T> {
    /// The user answered, and the answer fits the form.
    Accepted(T),
    /// The user declined.
    Declined,
    /// The user dismissed the question without a choice.
    Cancelled,
}

impl<T> Asked<T> {
    /// Returns the answer, if there is one.
    #[must_use]
    pub fn accepted(self) -> Option<T> {
        match self {
            Self::Accepted(answer) => Some(answer),
            Self::Declined | Self::Cancelled => None,
        }
    }

    /// Returns the answer.
    ///
    /// # Errors
    /// What `otherwise` returns, if the user declined or dismissed the question.
    pub fn or_else<E>(self, otherwise: impl FnOnce() -> E) -> Result<T, E> {
        self.accepted().ok_or_else(otherwise)
    }

    /// Returns whether the user answered.
    #[must_use]
    pub fn is_accepted(&self) -> bool {
        matches!(self, Self::Accepted(_))
    }

    /// Returns whether the user declined or dismissed the question.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        !self.is_accepted()
    }

    /// Applies `change` to the answer, if there is one.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Asked<U> {
        match self {
            Self::Accepted(answer) => Asked::Accepted(change(answer)),
            Self::Declined => Asked::Declined,
            Self::Cancelled => Asked::Cancelled,
        }
    }
}
