// Any program.
declare module "worker-under-test" {
  const worker: {
    fetch(request: Request, env: unknown, context: unknown): Promise<Response>;
  };
  export default worker;
}
