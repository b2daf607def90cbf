export {
  issueSession,
  parseSession,
  type SessionPrincipal,
  sessionStore,
} from "./credentials.ts";
