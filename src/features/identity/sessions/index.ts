export { parseSession, type SessionPrincipal, sessionStore } from "./credentials.ts";
export { SESSION_TTL_MS, SIGN_IN_PATH } from "./model.ts";
export { pageHeaders, renderRefusal } from "./page.ts";
export { startPersonSession } from "./person-sign-in.ts";
export { presentNewSession } from "./presenters.ts";
export { type CreatedSession, NO_SESSIONS_HERE, signInWithKey } from "./sign-in-service.ts";
export { endSession, findSessions, type SessionId } from "./store.ts";
