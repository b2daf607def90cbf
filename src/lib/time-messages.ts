/** For a time that is over. */
export const IN_THE_PAST = "Send a time in the future.";

/** For the end of a range of times. */
export const BEFORE_FROM = "Send a time that is not before `from`.";
