/** In place of the modules of Node. */
export {};
