export default {
  fetch(_request, env) {
    return new Response(`${env.GREETING} from ${env.ENVIRONMENT}\n`);
  },
};
